import { feature } from '../../../kernel/feature.ts'
import {
  beginPasskeySignIn,
  beginSecondPasskey,
  completeSecondFactor,
  getPendingSignIn,
  passkeySignIn,
} from './complete-second-factor.ts'
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from './passkeys.ts'
import { resetCustomerFactors, resetStaffFactors } from './reset-factors.ts'
import { getSecondFactor, renewRecoveryCodes } from './second-factors.ts'
import { beginTotp, confirmTotp, encryptedTotp, removeTotp } from './totp.ts'

export const secondFactorsFeature = feature({
  name: 'second-factors',
  encrypted: [encryptedTotp],
  operations: [
    getPendingSignIn,
    completeSecondFactor,
    beginSecondPasskey,
    beginPasskeySignIn,
    passkeySignIn,
    getSecondFactor,
    beginTotp,
    confirmTotp,
    removeTotp,
    renewRecoveryCodes,
    beginPasskey,
    addPasskey,
    renamePasskey,
    removePasskey,
    resetStaffFactors,
    resetCustomerFactors,
  ],
})
