import { feature } from '../../kernel/feature.ts'
import { unsentMails } from './attention.ts'
import { ownBranding, resellerBranding } from './branding.ts'
import { configureMail, getMail, testMail } from './mail.ts'
import { rotateSecrets } from './rotate-secrets.ts'
import { branding } from './tables.ts'

export const settingsFeature = feature({
  name: 'settings',
  tables: [branding],
  operations: [
    getMail,
    configureMail,
    rotateSecrets,
    testMail,
    ...Object.values(ownBranding),
    ...Object.values(resellerBranding),
  ],
  attention: [unsentMails],
})
