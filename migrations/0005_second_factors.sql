-- Signing in with more than a password.

-- Between the first factor and the second. The browser holds the token, the row its hash. Without an account: a passkey will
-- tell which account it is.
CREATE TABLE sign_in_challenges (
  token_hash TEXT PRIMARY KEY,
  account_id TEXT REFERENCES accounts (id),
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_challenges_expiry ON sign_in_challenges (expires_at);
CREATE INDEX sign_in_challenges_account ON sign_in_challenges (account_id) WHERE account_id IS NOT NULL;

-- An authenticator app. Until it is confirmed it is no factor. last_step: the newest time step whose code was used.
CREATE TABLE totp (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  secret TEXT NOT NULL,
  last_step INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  confirmed_at INTEGER
) STRICT;

CREATE TABLE recovery_codes (
  hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX recovery_codes_account ON recovery_codes (account_id);

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  credential_id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER,
  used_from TEXT
) STRICT;
CREATE INDEX passkeys_account ON passkeys (account_id, id);

-- The challenge that a passkey must sign, once. holder: the session, or the hash of the sign-in challenge.
CREATE TABLE passkey_challenges (
  holder TEXT NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('register', 'confirm', 'sign_in')),
  challenge TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (holder, purpose)
) STRICT;
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

-- Addresses where an account was signed in: guesses from elsewhere do not slow down its owner there.
CREATE TABLE sign_in_places (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  place TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, place)
) STRICT;
