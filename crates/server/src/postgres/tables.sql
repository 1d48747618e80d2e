-- The shared store, version 1. It is made by `playbook server init` and never changed in place.
--
-- A tenant is a role of the database: row-level security shows it its own rows alone. `log` is
-- append-only and is what machines exchange; `memories` is what the log comes to, kept
-- by whoever appends, for the server to search.

CREATE SCHEMA playbook;
CREATE TABLE playbook.version (
    number integer NOT NULL,
    log    text NOT NULL DEFAULT md5(gen_random_uuid()::text)
);
INSERT INTO playbook.version (number) VALUES (1);

CREATE TABLE playbook.log (
    position bigint GENERATED ALWAYS AS IDENTITY,
    tenant   name NOT NULL DEFAULT current_user,
    origin   text NOT NULL,
    job      text NOT NULL,
    seq      bigint NOT NULL,
    record   jsonb NOT NULL,
    PRIMARY KEY (tenant, job, seq)
);
CREATE INDEX log_by_position ON playbook.log (tenant, position);

CREATE TABLE playbook.memories (
    tenant name NOT NULL DEFAULT current_user,
    key text NOT NULL, kind text NOT NULL, project text NOT NULL, origin text NOT NULL,
    session text NOT NULL, job text NOT NULL,
    text text NOT NULL, words text NOT NULL, outcome text, category text, signature bigint,
    importance float8 NOT NULL, confidence float8 NOT NULL, effectiveness float8 NOT NULL,
    occurrences bigint NOT NULL, times_applied bigint NOT NULL,
    tags text[] NOT NULL, detail jsonb NOT NULL,
    created timestamptz NOT NULL, last_seen timestamptz NOT NULL,
    -- Tenant, project and kind are words, too, so that a search looks at no other's rows.
    search tsvector NOT NULL GENERATED ALWAYS AS (
        to_tsvector('english', text || ' ' || words)
        || array_to_tsvector(ARRAY['t' || md5(tenant::text), 'p' || md5(project), 'k' || kind])
    ) STORED,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX memories_by_words ON playbook.memories USING gin (search) WITH (fastupdate = off);
CREATE INDEX memories_by_signature ON playbook.memories (tenant, signature)
    WHERE signature IS NOT NULL;
CREATE INDEX memories_by_importance ON playbook.memories (tenant, project, importance DESC);
-- By which `seen` knows an error again.
CREATE TABLE playbook.error_keys (
    tenant name NOT NULL DEFAULT current_user,
    hash   bigint NOT NULL,
    key    text NOT NULL,
    PRIMARY KEY (tenant, hash, key),
    FOREIGN KEY (tenant, key) REFERENCES playbook.memories ON DELETE CASCADE
);
CREATE INDEX error_keys_by_memory ON playbook.error_keys (tenant, key);

ALTER TABLE playbook.log ENABLE ROW LEVEL SECURITY;
ALTER TABLE playbook.memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE playbook.error_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON playbook.log
    USING (tenant = current_user) WITH CHECK (tenant = current_user);
CREATE POLICY own_tenant ON playbook.memories
    USING (tenant = current_user) WITH CHECK (tenant = current_user);
CREATE POLICY own_tenant ON playbook.error_keys
    USING (tenant = current_user) WITH CHECK (tenant = current_user);

-- Row-level security keeps a role from an index of words, because an operator of it could tell of
-- rows that it must not see. This function looks there for the role that asks, and for its own
-- tenant alone.
CREATE FUNCTION playbook.found(wanted tsquery, candidates integer)
RETURNS TABLE (key text, fit float8)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH asking AS (
        SELECT CASE current_setting('role') WHEN 'none' THEN session_user
               ELSE current_setting('role')::name END AS tenant
    ), candidate AS MATERIALIZED (
        SELECT m.key, m.search FROM playbook.memories m, asking
        WHERE m.search @@ ((quote_literal('t' || md5(asking.tenant::text)))::tsquery && wanted)
            AND m.tenant = asking.tenant
        LIMIT candidates
    )
    SELECT key, ts_rank(search, wanted)::float8 FROM candidate
$$;

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'playbook_tenants') THEN
        CREATE ROLE playbook_tenants NOLOGIN;
    END IF;
END $$;
REVOKE ALL ON FUNCTION playbook.found FROM PUBLIC;
GRANT USAGE ON SCHEMA playbook TO playbook_tenants;
GRANT SELECT ON playbook.version TO playbook_tenants;
GRANT SELECT, INSERT ON playbook.log TO playbook_tenants;
GRANT SELECT, INSERT, UPDATE, DELETE ON playbook.memories TO playbook_tenants;
GRANT SELECT, INSERT ON playbook.error_keys TO playbook_tenants;
GRANT EXECUTE ON FUNCTION playbook.found TO playbook_tenants;
