#!/bin/sh
# Runs once, when compose.yaml's database is made: tributary owns its database and is no superuser; bi_reader is the
# role that analysts' logins get. The password comes from a mounted secret and is on no command line.
set -eu
psql --username "${POSTGRES_USER:-postgres}" --dbname postgres --set ON_ERROR_STOP=1 <<'SQL'
\set password `cat "${DATABASE_PASSWORD_FILE:-/run/secrets/database_password}"`
CREATE ROLE bi_reader NOLOGIN;
CREATE ROLE tributary LOGIN PASSWORD :'password';
CREATE DATABASE warehouse OWNER tributary;
SQL
