-- How an installation, or a reseller to its own customers, shows itself. The row without an account is the installation's.
CREATE TABLE branding (
  account_id TEXT REFERENCES accounts (id),
  name TEXT,
  accent TEXT,
  sender_name TEXT,
  sender_address TEXT,
  logo BLOB,
  logo_type TEXT,
  logo_hash TEXT
) STRICT;
CREATE UNIQUE INDEX branding_of ON branding (coalesce(account_id, ''));
CREATE INDEX branding_logo ON branding (logo_hash) WHERE logo_hash IS NOT NULL;
