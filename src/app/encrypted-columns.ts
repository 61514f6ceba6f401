// Every column that holds encrypted text. What is not in this list is not re-encrypted when the key changes, and is lost then;
// test/kernel/secrets-rotation.test.ts looks for it.

import { encryptedProviderSignIns } from '../identity/auth/identity-provider/oidc.ts'
import { encryptedTotp } from '../identity/auth/second-factors/totp.ts'
import { encryptedResponses } from '../kernel/api/idempotency.ts'
import type { EncryptedColumn } from '../kernel/db/encrypted.ts'
import { encryptedSettings } from '../kernel/db/tables.ts'
import { encryptedMails } from '../kernel/web/mail.ts'

export const encryptedColumns: readonly EncryptedColumn[] = [
  encryptedSettings,
  encryptedTotp,
  encryptedProviderSignIns,
  encryptedMails,
  encryptedResponses,
]
