-- Signing in through an identity provider (OpenID Connect).

-- The account of a provider's subject, which its holder linked. An account has one subject of each provider.
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
-- link_to: the account that is signed in and links; invitation_hash: of the invitation that was opened.
CREATE TABLE provider_sign_ins (
  token_hash TEXT PRIMARY KEY,
  state_hash TEXT NOT NULL,
  issuer TEXT NOT NULL,
  encrypted TEXT NOT NULL,
  next TEXT,
  link_to TEXT,
  invitation_hash TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX provider_sign_ins_expiry ON provider_sign_ins (expires_at);
