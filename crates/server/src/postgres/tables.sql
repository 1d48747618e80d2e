-- The store of several machines, version 2. It is made by `playbook server init` and never changed
-- in place.
--
-- A tenant is a role of the database: row-level security shows it its own rows alone. `memories`
-- has what was learned, as `playbook recall --json` prints it. `counts` has what each machine counts
-- for it, so writing the same again changes nothing.

CREATE SCHEMA playbook;
CREATE TABLE playbook.version (number integer NOT NULL);
INSERT INTO playbook.version VALUES (2);

CREATE TABLE playbook.memories (
    tenant name NOT NULL DEFAULT current_user,
    key    text NOT NULL,
    memory jsonb NOT NULL,
    kind text NOT NULL GENERATED ALWAYS AS (memory ->> 'kind') STORED,
    project text NOT NULL GENERATED ALWAYS AS (memory ->> 'project') STORED,
    signature text GENERATED ALWAYS AS (memory ->> 'signature') STORED,
    importance float8 NOT NULL GENERATED ALWAYS AS ((memory ->> 'importance')::float8) STORED,
    -- What `counts` comes to.
    occurrences bigint NOT NULL DEFAULT 0, times_applied bigint NOT NULL DEFAULT 0,
    effectiveness float8 NOT NULL DEFAULT 0.5, last_seen timestamptz NOT NULL DEFAULT now(),
    -- Tenant, project and kind are words, too, so that a search looks at no other's rows.
    search tsvector NOT NULL GENERATED ALWAYS AS (
        to_tsvector('english', (memory ->> 'text') || ' ' || (memory ->> 'tags') || ' '
            || coalesce(memory ->> 'task', memory ->> 'task_type', ''))
        || array_to_tsvector(ARRAY['t' || md5(tenant::text), 'p' || md5(memory ->> 'project'),
            'k' || (memory ->> 'kind')])
    ) STORED,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX memories_by_words ON playbook.memories USING gin (search) WITH (fastupdate = off);
CREATE INDEX memories_by_signature ON playbook.memories (tenant, signature)
    WHERE signature IS NOT NULL;
CREATE INDEX memories_by_importance ON playbook.memories (tenant, project, importance DESC);
CREATE TABLE playbook.counts (
    tenant  name NOT NULL DEFAULT current_user,
    key     text NOT NULL,
    machine text NOT NULL,
    occurrences bigint NOT NULL, times_applied bigint NOT NULL, effectiveness float8 NOT NULL,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (tenant, key, machine),
    FOREIGN KEY (tenant, key) REFERENCES playbook.memories ON DELETE CASCADE
);
-- By which `seen` knows an error again.
CREATE TABLE playbook.error_keys (
    tenant name NOT NULL DEFAULT current_user,
    hash   text NOT NULL,
    key    text NOT NULL,
    PRIMARY KEY (tenant, hash, key),
    FOREIGN KEY (tenant, key) REFERENCES playbook.memories ON DELETE CASCADE
);
CREATE INDEX error_keys_by_memory ON playbook.error_keys (tenant, key);

-- Makes memories there what they are on a machine. One that has only an id is forgotten. The ids are
-- columns: with `->>` in a comparison, row-level security would keep it from the index.
CREATE FUNCTION playbook.put(records jsonb, machine text) RETURNS void LANGUAGE sql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    DELETE FROM playbook.memories m USING jsonb_to_recordset($1) r (id text, kind text)
    WHERE m.tenant = current_user AND m.key = r.id AND r.kind IS NULL;
    INSERT INTO playbook.memories AS m (key, memory)
    SELECT r ->> 'id', r FROM jsonb_array_elements($1) r WHERE r ? 'kind'
    ON CONFLICT (tenant, key) DO UPDATE SET memory = excluded.memory || jsonb_build_object(
        'created', least(m.memory ->> 'created', excluded.memory ->> 'created'));
    INSERT INTO playbook.counts (key, machine, occurrences, times_applied, effectiveness, last_seen)
    SELECT r.id, $2, r.occurrences, r.times_applied, r.effectiveness, least(r.last_seen, now())
    FROM jsonb_to_recordset($1) r (id text, kind text, occurrences bigint, times_applied bigint,
        effectiveness float8, last_seen timestamptz)
    WHERE r.kind IS NOT NULL
    ON CONFLICT (tenant, key, machine) DO UPDATE SET occurrences = excluded.occurrences,
        times_applied = excluded.times_applied, effectiveness = excluded.effectiveness,
        last_seen = excluded.last_seen;
    INSERT INTO playbook.error_keys (hash, key)
    SELECT hash, r ->> 'id'
    FROM jsonb_array_elements($1) r, jsonb_array_elements_text(r -> 'keys') hash
    ON CONFLICT DO NOTHING;
    UPDATE playbook.memories m
    SET (occurrences, times_applied, effectiveness, last_seen) = (
        SELECT sum(c.occurrences), sum(c.times_applied),
            coalesce(sum(c.effectiveness * c.times_applied) / nullif(sum(c.times_applied), 0), 0.5),
            max(c.last_seen)
        FROM playbook.counts c WHERE c.tenant = current_user AND c.key = m.key)
    FROM jsonb_to_recordset($1) r (id text) WHERE m.tenant = current_user AND m.key = r.id;
$$;

DO $$ DECLARE name text; BEGIN
    FOREACH name IN ARRAY ARRAY['memories', 'counts', 'error_keys'] LOOP
        EXECUTE format('ALTER TABLE playbook.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY own_tenant ON playbook.%I
            USING (tenant = current_user) WITH CHECK (tenant = current_user)', name);
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'playbook_tenants') THEN
        CREATE ROLE playbook_tenants NOLOGIN;
    END IF;
END $$;

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

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA playbook FROM PUBLIC;
GRANT USAGE ON SCHEMA playbook TO playbook_tenants;
GRANT SELECT ON playbook.version TO playbook_tenants;
GRANT SELECT, INSERT, UPDATE, DELETE ON playbook.memories TO playbook_tenants;
GRANT SELECT, INSERT, UPDATE ON playbook.counts TO playbook_tenants;
GRANT SELECT, INSERT ON playbook.error_keys TO playbook_tenants;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA playbook TO playbook_tenants;
