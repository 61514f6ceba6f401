// Every column that holds sealed text. What is not in this list is not sealed anew when the key changes, and is lost then;
// test/kernel/secrets-rotation.test.ts looks for it.

import { sealedAnswers } from '../kernel/api/idempotency.ts'
import type { SealedColumn } from '../kernel/db/encrypted.ts'
import { sealedSettings } from '../kernel/db/tables.ts'
import { sealedMails } from '../kernel/web/mail.ts'
import { sealedProviderSignIns } from '../identity/identity-provider/oidc.ts'
import { sealedTotp } from '../identity/second-factors/totp.ts'

export const sealedColumns: readonly SealedColumn[] = [sealedSettings, sealedTotp, sealedProviderSignIns, sealedMails, sealedAnswers]
