--
-- PostgreSQL database dump
--

\restrict SEUXRiqhabKwpBodApjt2c5J6VHyNbsCEtC73gdEE0EuRN22zGYNwtIXZAjX80r

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: Odd Schema; Type: SCHEMA; Schema: -; Owner: cdcwire
--

CREATE SCHEMA "Odd Schema";


ALTER SCHEMA "Odd Schema" OWNER TO cdcwire;

--
-- Name: shop; Type: SCHEMA; Schema: -; Owner: cdcwire
--

CREATE SCHEMA shop;


ALTER SCHEMA shop OWNER TO cdcwire;

--
-- Name: citext; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;


--
-- Name: EXTENSION citext; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION citext IS 'data type for case-insensitive character strings';


--
-- Name: hstore; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS hstore WITH SCHEMA public;


--
-- Name: EXTENSION hstore; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION hstore IS 'data type for storing sets of (key, value) pairs';


--
-- Name: ltree; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS ltree WITH SCHEMA public;


--
-- Name: EXTENSION ltree; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION ltree IS 'data type for hierarchical tree-like structures';


--
-- Name: uuid-ossp; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS "uuid-ossp" WITH SCHEMA public;


--
-- Name: EXTENSION "uuid-ossp"; Type: COMMENT; Schema: -; Owner: 
--

COMMENT ON EXTENSION "uuid-ossp" IS 'generate universally unique identifiers (UUIDs)';


--
-- Name: Kind; Type: TYPE; Schema: Odd Schema; Owner: cdcwire
--

CREATE TYPE "Odd Schema"."Kind" AS ENUM (
    'A'
);


ALTER TYPE "Odd Schema"."Kind" OWNER TO cdcwire;

--
-- Name: address; Type: TYPE; Schema: shop; Owner: cdcwire
--

CREATE TYPE shop.address AS (
	street text,
	zip character varying(10)
);


ALTER TYPE shop.address OWNER TO cdcwire;

--
-- Name: cents; Type: DOMAIN; Schema: shop; Owner: cdcwire
--

CREATE DOMAIN shop.cents AS numeric(12,2) DEFAULT 0.00
	CONSTRAINT cents_check CHECK ((VALUE >= (0)::numeric));


ALTER DOMAIN shop.cents OWNER TO cdcwire;

--
-- Name: email; Type: DOMAIN; Schema: shop; Owner: cdcwire
--

CREATE DOMAIN shop.email AS public.citext NOT NULL
	CONSTRAINT has_at CHECK ((VALUE OPERATOR(public.~) '@;'::public.citext));


ALTER DOMAIN shop.email OWNER TO cdcwire;

--
-- Name: floatrange; Type: TYPE; Schema: shop; Owner: cdcwire
--

CREATE TYPE shop.floatrange AS RANGE (
    subtype = double precision,
    multirange_type_name = shop.floatmultirange
);


ALTER TYPE shop.floatrange OWNER TO cdcwire;

--
-- Name: mood; Type: TYPE; Schema: shop; Owner: cdcwire
--

CREATE TYPE shop.mood AS ENUM (
    'sad',
    'o''k',
    'very;happy'
);


ALTER TYPE shop.mood OWNER TO cdcwire;

--
-- Name: moods; Type: DOMAIN; Schema: shop; Owner: cdcwire
--

CREATE DOMAIN shop.moods AS shop.mood[];


ALTER DOMAIN shop.moods OWNER TO cdcwire;

--
-- Name: f(integer); Type: FUNCTION; Schema: shop; Owner: cdcwire
--

CREATE FUNCTION shop.f(a integer) RETURNS integer
    LANGUAGE plpgsql
    AS $_$ BEGIN CREATE TABLE inside (id int); RETURN $1; END; $_$;


ALTER FUNCTION shop.f(a integer) OWNER TO cdcwire;

--
-- Name: g(integer); Type: FUNCTION; Schema: shop; Owner: cdcwire
--

CREATE FUNCTION shop.g(a integer) RETURNS integer
    LANGUAGE sql
    BEGIN ATOMIC
 SELECT 1;
 SELECT a AS a;
END;


ALTER FUNCTION shop.g(a integer) OWNER TO cdcwire;

--
-- Name: tf(); Type: FUNCTION; Schema: shop; Owner: cdcwire
--

CREATE FUNCTION shop.tf() RETURNS trigger
    LANGUAGE plpgsql
    AS $$BEGIN RETURN NEW; END;$$;


ALTER FUNCTION shop.tf() OWNER TO cdcwire;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: Table; with 'quotes' and "double"; Type: TABLE; Schema: Odd Schema; Owner: cdcwire
--

CREATE TABLE "Odd Schema"."Table; with 'quotes' and ""double""" (
    id integer NOT NULL,
    "a;b" text
);


ALTER TABLE "Odd Schema"."Table; with 'quotes' and ""double""" OWNER TO cdcwire;

--
-- Name: byindex; Type: TABLE; Schema: public; Owner: cdcwire
--

CREATE TABLE public.byindex (
    a integer NOT NULL,
    b text
);


ALTER TABLE public.byindex OWNER TO cdcwire;

--
-- Name: nokey; Type: TABLE; Schema: public; Owner: cdcwire
--

CREATE TABLE public.nokey (
    a integer,
    b text
);

ALTER TABLE ONLY public.nokey REPLICA IDENTITY FULL;


ALTER TABLE public.nokey OWNER TO cdcwire;

--
-- Name: base; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.base (
    id integer NOT NULL,
    v text
);


ALTER TABLE shop.base OWNER TO cdcwire;

--
-- Name: TABLE base; Type: COMMENT; Schema: shop; Owner: cdcwire
--

COMMENT ON TABLE shop.base IS 'a; comment with ''quotes'' -- and dashes';


--
-- Name: derived; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.derived (
    w integer NOT NULL
)
INHERITS (shop.base);


ALTER TABLE shop.derived OWNER TO cdcwire;

--
-- Name: events; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.events (
    id bigint NOT NULL,
    made date NOT NULL,
    v text
)
PARTITION BY RANGE (made);


ALTER TABLE shop.events OWNER TO cdcwire;

--
-- Name: events_2023; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.events_2023 (
    id bigint NOT NULL,
    made date NOT NULL,
    v text
);


ALTER TABLE shop.events_2023 OWNER TO cdcwire;

--
-- Name: events_rest; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.events_rest (
    id bigint NOT NULL,
    made date NOT NULL,
    v text
);


ALTER TABLE shop.events_rest OWNER TO cdcwire;

--
-- Name: everything; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.everything (
    id bigint NOT NULL,
    n2 smallint DEFAULT 5 NOT NULL,
    n4 integer,
    s integer NOT NULL,
    bs bigint NOT NULL,
    ss smallint NOT NULL,
    r real,
    dp double precision,
    nm numeric,
    nm2 numeric(10,2) DEFAULT 1.50,
    nm0 numeric(5,0),
    mo money,
    b boolean DEFAULT true,
    c character(4),
    c1 character(1),
    vc character varying(20) DEFAULT 'a;''b'::character varying NOT NULL,
    vcn character varying,
    t text DEFAULT 'x'::text COLLATE pg_catalog."C",
    n name,
    ch "char",
    ci public.citext,
    x xml,
    u uuid DEFAULT gen_random_uuid(),
    by bytea,
    bi bit(1),
    bi5 bit(5),
    bv bit varying(7),
    bvn bit varying,
    d date DEFAULT CURRENT_DATE,
    t0 time without time zone,
    t3 time(3) without time zone,
    tz time with time zone,
    tz2 time(2) with time zone,
    ts timestamp without time zone,
    ts3 timestamp(3) without time zone,
    tsz timestamp with time zone DEFAULT now(),
    tsz3 timestamp(3) with time zone,
    iv interval,
    ivd interval day to second(3),
    iv6 interval(6),
    ivy interval year to month,
    j json,
    jb jsonb DEFAULT '{"a": 1}'::jsonb,
    h public.hstore,
    l public.ltree,
    ip inet,
    ci2 cidr,
    ma macaddr,
    ma8 macaddr8,
    ts_v tsvector,
    ts_q tsquery,
    po point,
    li line,
    ls lseg,
    bx box,
    pa path,
    pg polygon,
    ci3 circle,
    i4r int4range,
    i8r int8range,
    nr numrange,
    tr tsrange,
    tzr tstzrange,
    dr daterange,
    imr int4multirange,
    fr shop.floatrange,
    o oid,
    rc regclass,
    lsn pg_lsn,
    tid tid,
    xi xid,
    m shop.mood,
    mk "Odd Schema"."Kind",
    ad shop.address,
    em shop.email,
    ce shop.cents,
    ms shop.moods,
    ia integer[],
    ta text[],
    ma2 shop.mood[],
    na numeric(10,2)[],
    tsa timestamp(3) without time zone[],
    aa integer[],
    cea shop.cents[],
    vca character varying(5)[] DEFAULT '{a,b}'::character varying[],
    gen integer GENERATED ALWAYS AS ((n2 * 2)) STORED,
    chk integer,
    "Upper Case" integer,
    "quo""ted" text,
    "select" integer,
    CONSTRAINT c2 CHECK ((n4 <> 7)),
    CONSTRAINT everything_chk_check CHECK ((chk > 0))
);


ALTER TABLE shop.everything OWNER TO cdcwire;

--
-- Name: everything_bs_seq; Type: SEQUENCE; Schema: shop; Owner: cdcwire
--

CREATE SEQUENCE shop.everything_bs_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE shop.everything_bs_seq OWNER TO cdcwire;

--
-- Name: everything_bs_seq; Type: SEQUENCE OWNED BY; Schema: shop; Owner: cdcwire
--

ALTER SEQUENCE shop.everything_bs_seq OWNED BY shop.everything.bs;


--
-- Name: everything_id_seq; Type: SEQUENCE; Schema: shop; Owner: cdcwire
--

ALTER TABLE shop.everything ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME shop.everything_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: everything_s_seq; Type: SEQUENCE; Schema: shop; Owner: cdcwire
--

CREATE SEQUENCE shop.everything_s_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE shop.everything_s_seq OWNER TO cdcwire;

--
-- Name: everything_s_seq; Type: SEQUENCE OWNED BY; Schema: shop; Owner: cdcwire
--

ALTER SEQUENCE shop.everything_s_seq OWNED BY shop.everything.s;


--
-- Name: everything_ss_seq; Type: SEQUENCE; Schema: shop; Owner: cdcwire
--

CREATE SEQUENCE shop.everything_ss_seq
    AS smallint
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE shop.everything_ss_seq OWNER TO cdcwire;

--
-- Name: everything_ss_seq; Type: SEQUENCE OWNED BY; Schema: shop; Owner: cdcwire
--

ALTER SEQUENCE shop.everything_ss_seq OWNED BY shop.everything.ss;


--
-- Name: mv; Type: MATERIALIZED VIEW; Schema: shop; Owner: cdcwire
--

CREATE MATERIALIZED VIEW shop.mv AS
 SELECT 1 AS one
  WITH NO DATA;


ALTER TABLE shop.mv OWNER TO cdcwire;

--
-- Name: seq; Type: SEQUENCE; Schema: shop; Owner: cdcwire
--

CREATE SEQUENCE shop.seq
    START WITH 5
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE shop.seq OWNER TO cdcwire;

--
-- Name: typed; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.typed OF shop.address (
    zip NOT NULL
);


ALTER TABLE shop.typed OWNER TO cdcwire;

--
-- Name: uniq; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE TABLE shop.uniq (
    a integer NOT NULL,
    b integer NOT NULL,
    c integer
);


ALTER TABLE shop.uniq OWNER TO cdcwire;

--
-- Name: unlogged; Type: TABLE; Schema: shop; Owner: cdcwire
--

CREATE UNLOGGED TABLE shop.unlogged (
    id integer NOT NULL
);


ALTER TABLE shop.unlogged OWNER TO cdcwire;

--
-- Name: v; Type: VIEW; Schema: shop; Owner: cdcwire
--

CREATE VIEW shop.v AS
 SELECT everything.id,
    'CREATE TABLE no (id int);'::text AS x
   FROM shop.everything;


ALTER TABLE shop.v OWNER TO cdcwire;

--
-- Name: events_2023; Type: TABLE ATTACH; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.events ATTACH PARTITION shop.events_2023 FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');


--
-- Name: events_rest; Type: TABLE ATTACH; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.events ATTACH PARTITION shop.events_rest DEFAULT;


--
-- Name: everything s; Type: DEFAULT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.everything ALTER COLUMN s SET DEFAULT nextval('shop.everything_s_seq'::regclass);


--
-- Name: everything bs; Type: DEFAULT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.everything ALTER COLUMN bs SET DEFAULT nextval('shop.everything_bs_seq'::regclass);


--
-- Name: everything ss; Type: DEFAULT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.everything ALTER COLUMN ss SET DEFAULT nextval('shop.everything_ss_seq'::regclass);


--
-- Data for Name: Table; with 'quotes' and "double"; Type: TABLE DATA; Schema: Odd Schema; Owner: cdcwire
--

COPY "Odd Schema"."Table; with 'quotes' and ""double""" (id, "a;b") FROM stdin;
\.


--
-- Data for Name: byindex; Type: TABLE DATA; Schema: public; Owner: cdcwire
--

COPY public.byindex (a, b) FROM stdin;
\.


--
-- Data for Name: nokey; Type: TABLE DATA; Schema: public; Owner: cdcwire
--

COPY public.nokey (a, b) FROM stdin;
\.


--
-- Data for Name: base; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.base (id, v) FROM stdin;
1	tab\there; \\ "quote" 'x'
\.


--
-- Data for Name: derived; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.derived (id, v, w) FROM stdin;
\.


--
-- Data for Name: events_2023; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.events_2023 (id, made, v) FROM stdin;
\.


--
-- Data for Name: events_rest; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.events_rest (id, made, v) FROM stdin;
\.


--
-- Data for Name: everything; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.everything (id, n2, n4, s, bs, ss, r, dp, nm, nm2, nm0, mo, b, c, c1, vc, vcn, t, n, ch, ci, x, u, by, bi, bi5, bv, bvn, d, t0, t3, tz, tz2, ts, ts3, tsz, tsz3, iv, ivd, iv6, ivy, j, jb, h, l, ip, ci2, ma, ma8, ts_v, ts_q, po, li, ls, bx, pa, pg, ci3, i4r, i8r, nr, tr, tzr, dr, imr, fr, o, rc, lsn, tid, xi, m, mk, ad, em, ce, ms, ia, ta, ma2, na, tsa, aa, cea, vca, chk, "Upper Case", "quo""ted", "select") FROM stdin;
1	3	\N	1	1	1	\N	\N	\N	1.50	\N	\N	t	\N	\N	a	\N	x;\n\\.\nCREATE TABLE fake (id int);	\N	\N	\N	\N	7f5af88f-3313-4711-931c-d2c2cad9d2f4	\N	\N	\N	\N	\N	2026-11-27	\N	\N	\N	\N	\N	\N	2026-11-27 21:47:06.74769+00	\N	\N	\N	\N	\N	\N	{"a": 1}	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	\N	a@;	1.00	\N	\N	\N	\N	\N	\N	\N	\N	{a,b}	\N	\N	\N	\N
\.


--
-- Data for Name: typed; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.typed (street, zip) FROM stdin;
\.


--
-- Data for Name: uniq; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.uniq (a, b, c) FROM stdin;
\.


--
-- Data for Name: unlogged; Type: TABLE DATA; Schema: shop; Owner: cdcwire
--

COPY shop.unlogged (id) FROM stdin;
\.


--
-- Name: everything_bs_seq; Type: SEQUENCE SET; Schema: shop; Owner: cdcwire
--

SELECT pg_catalog.setval('shop.everything_bs_seq', 1, true);


--
-- Name: everything_id_seq; Type: SEQUENCE SET; Schema: shop; Owner: cdcwire
--

SELECT pg_catalog.setval('shop.everything_id_seq', 1, true);


--
-- Name: everything_s_seq; Type: SEQUENCE SET; Schema: shop; Owner: cdcwire
--

SELECT pg_catalog.setval('shop.everything_s_seq', 1, true);


--
-- Name: everything_ss_seq; Type: SEQUENCE SET; Schema: shop; Owner: cdcwire
--

SELECT pg_catalog.setval('shop.everything_ss_seq', 1, true);


--
-- Name: seq; Type: SEQUENCE SET; Schema: shop; Owner: cdcwire
--

SELECT pg_catalog.setval('shop.seq', 5, false);


--
-- Name: Table; with 'quotes' and "double" Table; with 'quotes' and "double"_pkey; Type: CONSTRAINT; Schema: Odd Schema; Owner: cdcwire
--

ALTER TABLE ONLY "Odd Schema"."Table; with 'quotes' and ""double"""
    ADD CONSTRAINT "Table; with 'quotes' and ""double""_pkey" PRIMARY KEY (id);


--
-- Name: base base_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.base
    ADD CONSTRAINT base_pkey PRIMARY KEY (id);


--
-- Name: events events_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id, made);


--
-- Name: events_2023 events_2023_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.events_2023
    ADD CONSTRAINT events_2023_pkey PRIMARY KEY (id, made);


--
-- Name: events_rest events_rest_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.events_rest
    ADD CONSTRAINT events_rest_pkey PRIMARY KEY (id, made);


--
-- Name: everything everything_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.everything
    ADD CONSTRAINT everything_pkey PRIMARY KEY (id);


--
-- Name: typed typed_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.typed
    ADD CONSTRAINT typed_pkey PRIMARY KEY (zip);


--
-- Name: uniq uniq_a_b_key; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.uniq
    ADD CONSTRAINT uniq_a_b_key UNIQUE (a, b);

ALTER TABLE ONLY shop.uniq REPLICA IDENTITY USING INDEX uniq_a_b_key;


--
-- Name: uniq uniq_c_key; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.uniq
    ADD CONSTRAINT uniq_c_key UNIQUE (c);


--
-- Name: unlogged unlogged_pkey; Type: CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.unlogged
    ADD CONSTRAINT unlogged_pkey PRIMARY KEY (id);


--
-- Name: bye; Type: INDEX; Schema: public; Owner: cdcwire
--

CREATE UNIQUE INDEX bye ON public.byindex USING btree (lower(b));


--
-- Name: byi; Type: INDEX; Schema: public; Owner: cdcwire
--

CREATE UNIQUE INDEX byi ON public.byindex USING btree (a) INCLUDE (b);


--
-- Name: byp; Type: INDEX; Schema: public; Owner: cdcwire
--

CREATE UNIQUE INDEX byp ON public.byindex USING btree (b) WHERE (a > 5);


--
-- Name: ix; Type: INDEX; Schema: shop; Owner: cdcwire
--

CREATE INDEX ix ON shop.base USING btree (v);


--
-- Name: events_2023_pkey; Type: INDEX ATTACH; Schema: shop; Owner: cdcwire
--

ALTER INDEX shop.events_pkey ATTACH PARTITION shop.events_2023_pkey;


--
-- Name: events_rest_pkey; Type: INDEX ATTACH; Schema: shop; Owner: cdcwire
--

ALTER INDEX shop.events_pkey ATTACH PARTITION shop.events_rest_pkey;


--
-- Name: base ru; Type: RULE; Schema: shop; Owner: cdcwire
--

CREATE RULE ru AS
    ON DELETE TO shop.base DO INSTEAD NOTHING;


--
-- Name: base tr; Type: TRIGGER; Schema: shop; Owner: cdcwire
--

CREATE TRIGGER tr BEFORE INSERT ON shop.base FOR EACH ROW EXECUTE FUNCTION shop.tf();


--
-- Name: derived fk; Type: FK CONSTRAINT; Schema: shop; Owner: cdcwire
--

ALTER TABLE ONLY shop.derived
    ADD CONSTRAINT fk FOREIGN KEY (id) REFERENCES shop.base(id);


--
-- Name: pub; Type: PUBLICATION; Schema: -; Owner: cdcwire
--

CREATE PUBLICATION pub FOR ALL TABLES WITH (publish = 'insert, update, delete, truncate');


ALTER PUBLICATION pub OWNER TO cdcwire;

--
-- Name: mv; Type: MATERIALIZED VIEW DATA; Schema: shop; Owner: cdcwire
--

REFRESH MATERIALIZED VIEW shop.mv;


--
-- PostgreSQL database dump complete
--

\unrestrict SEUXRiqhabKwpBodApjt2c5J6VHyNbsCEtC73gdEE0EuRN22zGYNwtIXZAjX80r

