// `berth secrets`: the key that encrypts what the database must not show.

import { named } from '../../kernel/crypto/secrets.ts'
import { rotateSecrets } from '../../platform/settings/rotate-secrets.ts'
import { CutShort, call, show } from './admin.ts'

const usage = `berth secrets rotate     makes a new key in the key file (PANEL_KEY_FILE), encrypts every secret in the
                         database anew with it, then drops the old key; also while the controller runs, and
                         again when it was cut short

Copy the key file afterwards: backups of the database from here on need the new key, earlier ones the old.
It works on the installation of this host, or on the one whose data directory PANEL_DATA_DIR names.
Exit 0 done, 1 refused (code and message on standard error), 2 wrong use.`

export async function secrets([command, ...more]: readonly string[]): Promise<number> {
  if ([command, ...more].some((arg) => arg === '--help' || arg === '-h')) {
    console.log(usage)
    return 0
  }
  if (command !== 'rotate' || more.length) {
    console.error(usage)
    return 2
  }
  return show(await rotated(), words)
}

/** Again where it was cut short: it goes on with what it has begun. */
const rotated = (): Promise<Response> =>
  call(rotateSecrets, {}).catch((error) => {
    if (!(error instanceof CutShort)) throw error
    return Bun.sleep(200).then(rotated)
  })

const words = ({ key, encrypted, dropped }: { key: string; encrypted: number; dropped: string[] }) =>
  `${encrypted} ${encrypted === 1 ? 'value' : 'values'} re-encrypted with the key ${key}. ` +
  (dropped.length
    ? `${named(dropped).replace('t', 'T')} ${dropped.length === 1 ? 'is' : 'are'} gone: copy the key file to where ` +
      'you keep it.'
    : 'The old key stays: something was encrypted with it meanwhile. Run this again.')
