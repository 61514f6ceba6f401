-- An announcement may be for the servers of one node, and may end when that node is connected again.
ALTER TABLE announcements ADD COLUMN node_id TEXT;
ALTER TABLE announcements ADD COLUMN until_connected INTEGER NOT NULL DEFAULT 0;

-- The record of a server shows its restart policy.
CREATE TRIGGER workloads_version_restart AFTER UPDATE OF restart_policy ON workloads
BEGIN UPDATE workloads SET version = version + 1 WHERE id = NEW.id; END;

-- An address belongs to one account. A reseller may give it to a customer as well and does not learn that it is taken: that account
-- waits until its holder chooses another address, and nobody signs in to it by this one.
ALTER TABLE accounts ADD COLUMN email_pending INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX accounts_email ON accounts (email) WHERE email_pending = 0;
CREATE UNIQUE INDEX accounts_email_of_reseller ON accounts (reseller_id, email) WHERE reseller_id IS NOT NULL;
CREATE INDEX accounts_every_email ON accounts (email);
-- When its holder was last mailed a link to a first password.
ALTER TABLE accounts ADD COLUMN welcomed_at INTEGER;

-- Where customers ask for help: a web address or an e-mail address.
ALTER TABLE branding ADD COLUMN support_link TEXT;
