-- Signing in through an identity provider (OpenID Connect).

-- Whose a provider's subject is. One of each provider's: an address that changed hands there does not open an account here.
CREATE TABLE account_identities (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  UNIQUE (issuer, subject),
  UNIQUE (account_id, issuer)
) STRICT;

-- Somebody is at the provider. The browser holds the value, the row its hash; encrypted: nonce and PKCE verifier.
CREATE TABLE provider_sign_ins (
  token_hash TEXT PRIMARY KEY,
  state_hash TEXT NOT NULL,
  issuer TEXT NOT NULL,
  encrypted TEXT NOT NULL,
  next TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX provider_sign_ins_expiry ON provider_sign_ins (expires_at);
