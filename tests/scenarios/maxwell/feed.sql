set time_zone='+08:00';
set sql_mode='';
create database shop character set utf8mb4;
create table shop.e (
  id int not null primary key auto_increment,
  m double,
  c timestamp(6) null,
  comment varchar(255) charset latin1
);
insert into shop.e set m = 4.2341, c = '2026-10-21 05:33:37.523000', comment = 'I am a creature of light.';
update shop.e set m = 5.444, c = '2026-10-21 05:33:54.631000' where id = 1;
delete from shop.e where id = 1;
alter table shop.e add column torvalds bigint unsigned after m;
create table shop.types (
  id bigint unsigned primary key,
  t1 tinyint, t1u tinyint unsigned, t2 smallint, t2u smallint unsigned, t3 mediumint, t3u mediumint unsigned, t4 int, t4u int unsigned, t8 bigint, t8u bigint unsigned,
  f float, d double, dec1 decimal(10,2), dec2 decimal(30,10), dec3 decimal(65,0),
  b1 bit(1), b8 bit(8), b64 bit(64),
  c char(5), v varchar(20), vl varchar(20) character set latin1, tx text, bin3 binary(3), vb varbinary(10), bl blob, vbin varchar(10) character set binary,
  e enum('a','b,c','ü'), s set('x','y','z'), j longtext, 
  dt date, t time, t6 time(6), dtm datetime, dtm3 datetime(3), ts timestamp null, ts6 timestamp(6) null, y year
) character set utf8mb4;
insert into shop.types values (1, 0,0,0,0,0,0,0,0,0,0, 0,0,0,0,0, 0,0,0, '','','','','','','','', 'a','','{}', '1970-01-01','00:00:00','00:00:00','1970-01-01 00:00:00','1970-01-01 00:00:00','1970-01-01 08:00:01','1970-01-01 08:00:01',1970);
insert into shop.types values (18446744073709551615, 127,255,32767,65535,8388607,16777215,2147483647,4294967295,9223372036854775807,18446744073709551615, 3.4028235e38,1.7976931348623157e308,99999999.99,99999999999999999999.9999999999,99999999999999999999999999999999999999999999999999999999999999999, b'1',b'11111111',18446744073709551615, 'ü😀"\\','a\nb\tc\0\x01/','ÿé','日本 <&> \x7f','\0\0','\xff','\x00\xff\x10','bin','ü','x,y,z','{"a": [1, 2.50, null], "b": "ü"}','9999-12-31','838:59:59','838:59:59.999999','9999-12-31 23:59:59','9999-12-31 23:59:59.999','2038-01-19 11:14:07','2038-01-19 11:14:07.999999',2155);
insert into shop.types values (2, -128,0,-32768,0,-8388608,0,-2147483648,0,-9223372036854775808,9223372036854775808, -1.5,-0.0,-0.01,0.0000000001,-1, b'0',b'10000001',1, 'abc','NULL','','','abc','a','x','', 'b,c','y','null','0000-00-00','-838:59:59','-00:00:01.500000','0000-00-00 00:00:00','2020-02-29 23:59:59.120','2020-06-01 12:00:00','2020-06-01 12:00:00.000001',0);
insert into shop.types (id) values (3);
update shop.types set t1=null, v='changed', dec1=1.00, s='x,z' where id=2;
update shop.types set id=22 where id=2;
update shop.types set v='later', t1=5 where id=3;
delete from shop.types where id=22;
insert into shop.types (id,f,d,dec1,dec2,dt,dtm,dtm3,t,ts6) values (4,0.1,1e21,1,0.0000010000,'2020-00-00','2020-01-00 01:02:03','2020-01-02 03:04:05','12:34:56','2020-01-02 03:04:05'), (5,16777216,1e-7,0.10,123.4500000000,'1000-01-01','1000-01-01 00:00:00','1969-12-31 23:59:59.999','-00:00:01','2020-01-02 03:04:05.5'), (6,1e10,100,-5,1e-7,'1582-10-10','1582-10-10 00:00:00','0001-01-01','100:00:00','2020-01-02 03:04:05.500');
begin;
insert into shop.e (m,comment) values (1,'one'),(2,'two');
insert into shop.e (m,comment) values (3,'three');
commit;
create table shop.nokey (a int, B varchar(10));
insert into shop.nokey values (1,'x'),(1,'x');
update shop.nokey set B='y';
delete from shop.nokey;
create table shop.pk2 (Region varchar(8), Id int, v text, primary key (Region, Id));
insert into shop.pk2 values ('eu',1,'a');
update shop.pk2 set Region='us' where Id=1;
update shop.pk2 set v=null where Id=1;
update shop.pk2 set v='b' where Id=1;
create table shop.geo (id int primary key, p point, g geometry);
insert into shop.geo values (1,ST_GeomFromText('POINT(1 2)'),ST_GeomFromText('LINESTRING(0 0,1 1.5)'));
create table shop.`we"ird 表` (`a b` int primary key, `ü` varchar(3));
insert into shop.`we"ird 表` values (1,'ü');
alter table shop.pk2 add column extra enum('a','b''c') default 'a', rename to shop.pk3;
rename table shop.pk3 to shop.pk4;
truncate table shop.nokey;
create index i on shop.pk4 (v(5));
alter table shop.pk4 drop column extra;
drop table shop.geo;
alter database shop character set latin1;
create database empty;
drop database empty;
insert into shop.e set m=9.5, c='2026-01-01 00:00:00', comment='the end';
