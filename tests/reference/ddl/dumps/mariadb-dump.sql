/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Sequence structure for `order_numbers`
--

DROP SEQUENCE IF EXISTS `order_numbers`;
CREATE SEQUENCE `order_numbers` start with 100 minvalue 1 maxvalue 9223372036854775806 increment by 10 cache 1000 nocycle ENGINE=InnoDB;
DO SETVAL(`order_numbers`, 10100, 0);

--
-- Table structure for table `booked`
--

DROP TABLE IF EXISTS `booked`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `booked` (
  `id` int(11) DEFAULT NULL,
  `d1` date NOT NULL,
  `d2` date NOT NULL,
  PERIOD FOR `app` (`d1`, `d2`),
  UNIQUE KEY `id` (`id`,`app` WITHOUT OVERLAPS)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `booked`
--

LOCK TABLES `booked` WRITE;
/*!40000 ALTER TABLE `booked` DISABLE KEYS */;
/*!40000 ALTER TABLE `booked` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `child`
--

DROP TABLE IF EXISTS `child`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `child` (
  `id` int(11) NOT NULL,
  `parent` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `fk` (`parent`),
  CONSTRAINT `fk` FOREIGN KEY (`parent`) REFERENCES `numbers` (`i`) ON DELETE SET NULL ON UPDATE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `child`
--

LOCK TABLES `child` WRITE;
/*!40000 ALTER TABLE `child` DISABLE KEYS */;
/*!40000 ALTER TABLE `child` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `generated`
--

DROP TABLE IF EXISTS `generated`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `generated` (
  `id` int(11) NOT NULL,
  `a` int(11) DEFAULT NULL,
  `v` int(11) GENERATED ALWAYS AS (`a` * 2 + 1) VIRTUAL,
  `p` varchar(30) GENERATED ALWAYS AS (concat('x;',`a`)) STORED,
  `hidden` int(11) INVISIBLE DEFAULT 7,
  `chk` int(11) DEFAULT NULL CHECK (`chk` > 0 and `chk` < 10),
  PRIMARY KEY (`id`),
  CONSTRAINT `named` CHECK (`a` <> 5)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `generated`
--

LOCK TABLES `generated` WRITE;
/*!40000 ALTER TABLE `generated` DISABLE KEYS */;
/*!40000 ALTER TABLE `generated` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `many`
--

DROP TABLE IF EXISTS `many`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `many` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `flag` tinyint(1) DEFAULT 1,
  `flag_u` tinyint(1) unsigned DEFAULT NULL,
  `t` tinyint(4) DEFAULT NULL,
  `tu` tinyint(3) unsigned zerofill DEFAULT NULL,
  `s` smallint(5) DEFAULT NULL,
  `m` mediumint(8) unsigned DEFAULT NULL,
  `i` int(11) NOT NULL DEFAULT -5,
  `b` bigint(20) DEFAULT NULL,
  `f` float DEFAULT NULL,
  `f2` float(7,3) DEFAULT NULL,
  `d` double DEFAULT NULL,
  `d2` double(20,4) unsigned DEFAULT NULL,
  `dc` decimal(10,2) DEFAULT 1.50,
  `dc65` decimal(65,30) DEFAULT NULL,
  `bit1` bit(1) DEFAULT b'1',
  `bit10` bit(10) DEFAULT b'1010',
  `y` year(4) DEFAULT 2024,
  `bo` tinyint(1) NOT NULL DEFAULT 0,
  `seq` bigint(20) DEFAULT nextval(`shop`.`order_numbers`),
  PRIMARY KEY (`id`),
  UNIQUE KEY `u1` (`i`,`b`),
  KEY `k2` (`f`) COMMENT 'it''s; a "key" -- not a comment'
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='numbers; with `quotes`, ''single'' and \\ backslash /* no */';
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `many`
--

LOCK TABLES `many` WRITE;
/*!40000 ALTER TABLE `many` DISABLE KEYS */;
/*!40000 ALTER TABLE `many` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `no key`
--

DROP TABLE IF EXISTS `no key`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `no key` (
  `a b` int(11) DEFAULT NULL,
  `c``d` text DEFAULT NULL,
  `Ã©` int(11) DEFAULT NULL,
  `from` int(11) DEFAULT NULL,
  `key` int(11) DEFAULT NULL,
  `primary` int(11) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `no key`
--

LOCK TABLES `no key` WRITE;
/*!40000 ALTER TABLE `no key` DISABLE KEYS */;
INSERT INTO `no key` VALUES
(1,'a',2,3,4,5);
/*!40000 ALTER TABLE `no key` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `numbers`
--

DROP TABLE IF EXISTS `numbers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `numbers` (
  `id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `flag` tinyint(1) DEFAULT 1,
  `flag_u` tinyint(1) unsigned DEFAULT NULL,
  `t` tinyint(4) DEFAULT NULL,
  `tu` tinyint(3) unsigned zerofill DEFAULT NULL,
  `s` smallint(5) DEFAULT NULL,
  `m` mediumint(8) unsigned DEFAULT NULL,
  `i` int(11) NOT NULL DEFAULT -5,
  `b` bigint(20) DEFAULT NULL,
  `f` float DEFAULT NULL,
  `f2` float(7,3) DEFAULT NULL,
  `d` double DEFAULT NULL,
  `d2` double(20,4) unsigned DEFAULT NULL,
  `dc` decimal(10,2) DEFAULT 1.50,
  `dc65` decimal(65,30) DEFAULT NULL,
  `bit1` bit(1) DEFAULT b'1',
  `bit10` bit(10) DEFAULT b'1010',
  `y` year(4) DEFAULT 2024,
  `bo` tinyint(1) NOT NULL DEFAULT 0,
  `seq` bigint(20) DEFAULT nextval(`shop`.`order_numbers`),
  PRIMARY KEY (`id`),
  UNIQUE KEY `u1` (`i`,`b`),
  KEY `k2` (`f`) COMMENT 'it''s; a "key" -- not a comment'
) ENGINE=InnoDB AUTO_INCREMENT=4 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='numbers; with `quotes`, ''single'' and \\ backslash /* no */';
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `numbers`
--

LOCK TABLES `numbers` WRITE;
/*!40000 ALTER TABLE `numbers` DISABLE KEYS */;
INSERT INTO `numbers` VALUES
(1,1,NULL,NULL,003,NULL,NULL,5,NULL,NULL,NULL,NULL,NULL,2.50,NULL,'','\0\n',2024,0,100),
(2,5,NULL,NULL,200,NULL,NULL,6,NULL,NULL,NULL,NULL,NULL,9.99,NULL,'','\0\n',2024,0,110),
(3,NULL,NULL,NULL,NULL,NULL,NULL,7,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'','\0\n',2024,0,120);
/*!40000 ALTER TABLE `numbers` ENABLE KEYS */;
UNLOCK TABLES;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER tr BEFORE INSERT ON numbers FOR EACH ROW SET NEW.i = NEW.i + 1 
*/;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER tr2 AFTER DELETE ON numbers FOR EACH ROW BEGIN
  IF OLD.i > 5 THEN
    INSERT INTO child VALUES (OLD.i, 1);
  END IF;
  SET @x = 'CREATE TABLE no (id int);';
END 
*/;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Table structure for table `partitioned`
--

DROP TABLE IF EXISTS `partitioned`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `partitioned` (
  `id` int(11) NOT NULL,
  `made` date NOT NULL,
  `v` varchar(5) DEFAULT NULL,
  PRIMARY KEY (`id`,`made`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci
 PARTITION BY RANGE (year(`made`))
(PARTITION `p0` VALUES LESS THAN (2020) COMMENT = 'old;' ENGINE = InnoDB,
 PARTITION `p1` VALUES LESS THAN MAXVALUE ENGINE = InnoDB);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `partitioned`
--

LOCK TABLES `partitioned` WRITE;
/*!40000 ALTER TABLE `partitioned` DISABLE KEYS */;
/*!40000 ALTER TABLE `partitioned` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `places`
--

DROP TABLE IF EXISTS `places`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `places` (
  `id` int(11) NOT NULL,
  `g` geometry NOT NULL,
  `p` point DEFAULT NULL,
  `pol` polygon DEFAULT NULL,
  `ls` linestring DEFAULT NULL,
  `mp` multipoint DEFAULT NULL,
  `gc` geometrycollection DEFAULT NULL,
  PRIMARY KEY (`id`),
  SPATIAL KEY `g` (`g`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `places`
--

LOCK TABLES `places` WRITE;
/*!40000 ALTER TABLE `places` DISABLE KEYS */;
INSERT INTO `places` VALUES
(1,'\0\0\0\0\0\0\0\0\0\0\0\0\0ð?\0\0\0\0\0\0\0@',NULL,NULL,NULL,NULL,NULL);
/*!40000 ALTER TABLE `places` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Temporary table structure for view `simple`
--

DROP TABLE IF EXISTS `simple`;
/*!50001 DROP VIEW IF EXISTS `simple`*/;
SET @saved_cs_client     = @@character_set_client;
SET character_set_client = utf8mb4;
/*!50001 CREATE VIEW `simple` AS SELECT
 NULL AS `id`,
 NULL AS `i` */;
SET character_set_client = @saved_cs_client;

--
-- Table structure for table `texts`
--

DROP TABLE IF EXISTS `texts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `texts` (
  `id` char(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `sel``ect` varchar(20) NOT NULL DEFAULT 'a;b''c"d\\e' COMMENT 'semi; colon, ''quote'' and #hash',
  `t1` tinytext DEFAULT NULL,
  `t2` text CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT NULL,
  `t3` mediumtext DEFAULT NULL,
  `t4` longtext DEFAULT NULL,
  `vb` varbinary(16) DEFAULT NULL,
  `bi` binary(4) DEFAULT '\0\0\0\0',
  `b1` tinyblob DEFAULT NULL,
  `b2` blob DEFAULT NULL,
  `b3` mediumblob DEFAULT NULL,
  `b4` longblob DEFAULT NULL,
  `e` enum('a','b''c','d;e','f,g','Ã©','') NOT NULL DEFAULT 'a',
  `st` set('x','y z','q''r') DEFAULT 'x,y z',
  `j` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`j`)),
  `u` uuid DEFAULT NULL,
  `ip4` inet4 DEFAULT NULL,
  `ip6` inet6 DEFAULT '::1',
  `c` varchar(10) /*M!100301 COMPRESSED*/ DEFAULT NULL,
  `vbin` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`id`,`sel``ect`(5)),
  FULLTEXT KEY `ft` (`t3`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `texts`
--

LOCK TABLES `texts` WRITE;
/*!40000 ALTER TABLE `texts` DISABLE KEYS */;
INSERT INTO `texts` VALUES
('k1','x','a;\nCREATE TABLE fake (id int);\n-- not',NULL,NULL,NULL,NULL,'\0\0\0\0',NULL,'\0ÿ\'',NULL,NULL,'a','x,y z','{\"a\": 1}','123e4567-e89b-12d3-a456-426655440000','10.0.0.1','::1',NULL,NULL);
/*!40000 ALTER TABLE `texts` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `times`
--

DROP TABLE IF EXISTS `times`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `times` (
  `id` int(11) NOT NULL,
  `d` date DEFAULT '2024-02-29',
  `t0` time DEFAULT NULL,
  `t3` time(3) DEFAULT NULL,
  `t6` time(6) DEFAULT NULL,
  `dt` datetime DEFAULT NULL,
  `dt3` datetime(3) DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3),
  `dt6` datetime(6) DEFAULT NULL,
  `ts` timestamp NOT NULL DEFAULT current_timestamp() ON UPDATE current_timestamp(),
  `ts6` timestamp(6) NULL DEFAULT NULL,
  `z` date DEFAULT '0000-00-00',
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `times`
--

LOCK TABLES `times` WRITE;
/*!40000 ALTER TABLE `times` DISABLE KEYS */;
INSERT INTO `times` VALUES
(1,'2024-02-29','-838:59:59',NULL,'100:00:00.000001',NULL,'2026-11-27 21:42:25.482','2024-01-01 00:00:00.123456','2026-11-27 21:42:25',NULL,'0000-00-00');
/*!40000 ALTER TABLE `times` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `versioned`
--

DROP TABLE IF EXISTS `versioned`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `versioned` (
  `id` int(11) NOT NULL,
  `v` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `versioned`
--

LOCK TABLES `versioned` WRITE;
/*!40000 ALTER TABLE `versioned` DISABLE KEYS */;
/*!40000 ALTER TABLE `versioned` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `versioned2`
--

DROP TABLE IF EXISTS `versioned2`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `versioned2` (
  `id` int(11) NOT NULL,
  `v` int(11) DEFAULT NULL WITHOUT SYSTEM VERSIONING,
  `s` timestamp(6) GENERATED ALWAYS AS ROW START,
  `e` timestamp(6) GENERATED ALWAYS AS ROW END,
  PRIMARY KEY (`id`,`e`),
  PERIOD FOR SYSTEM_TIME (`s`, `e`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `versioned2`
--

LOCK TABLES `versioned2` WRITE;
/*!40000 ALTER TABLE `versioned2` DISABLE KEYS */;
/*!40000 ALTER TABLE `versioned2` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Dumping events for database 'shop'
--
/*!50106 SET @save_time_zone= @@TIME_ZONE */ ;
/*!50106 DROP EVENT IF EXISTS `nightly` */;
DELIMITER ;;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;;
/*!50003 SET character_set_client  = utf8mb4 */ ;;
/*!50003 SET character_set_results = utf8mb4 */ ;;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;;
/*!50003 SET @saved_time_zone      = @@time_zone */ ;;
/*!50003 SET time_zone             = 'SYSTEM' */ ;;
/*!50106 CREATE*/ /*!50117 DEFINER=`root`@`localhost`*/ /*!50106 EVENT `nightly` ON SCHEDULE EVERY 1 DAY STARTS '2026-11-27 21:42:25' ON COMPLETION NOT PRESERVE ENABLE DO BEGIN DELETE FROM child; DELETE FROM `no key`; END 
*/ ;;
/*!50003 SET time_zone             = @saved_time_zone */ ;;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;;
/*!50003 SET character_set_client  = @saved_cs_client */ ;;
/*!50003 SET character_set_results = @saved_cs_results */ ;;
/*!50003 SET collation_connection  = @saved_col_connection */ ;;
DELIMITER ;
/*!50106 SET TIME_ZONE= @save_time_zone */ ;

--
-- Dumping routines for database 'shop'
--
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
/*!50003 DROP FUNCTION IF EXISTS `twice` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` FUNCTION `twice`(n int) RETURNS int(11)
    DETERMINISTIC
RETURN n * 2
;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION' */ ;
/*!50003 DROP PROCEDURE IF EXISTS `make_one` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_general_ci */ ;
DELIMITER ;;
CREATE DEFINER=`root`@`localhost` PROCEDURE `make_one`(IN n int)
BEGIN
  CREATE TEMPORARY TABLE tmp_one (id int, `x` text);
  CREATE TABLE IF NOT EXISTS made_inside (id int PRIMARY KEY);
  INSERT INTO tmp_one VALUES (n, 'it''s; "ok"');
END
;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Final view structure for view `simple`
--

/*!50001 DROP VIEW IF EXISTS `simple`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_general_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `simple` AS select `numbers`.`id` AS `id`,`numbers`.`i` AS `i` from `numbers` where `numbers`.`flag` = 1 and 'a;b' <> 'c' */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-27 21:42:25
