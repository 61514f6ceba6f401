// `berth secrets`: the keys that encrypt what the database must not show.

import { named } from '../../kernel/crypto/key-file.ts'
import { dropSecretKey, listSecretKeys, rotateSecrets } from '../../platform/settings/rotate-secrets.ts'
import { CutShort, call, show } from './admin.ts'

const usage = `berth secrets rotate     makes a new key in the key file (PANEL_KEY_FILE), encrypts every secret in the
                         database anew with it, then sets the old key aside; also while the controller runs,
                         and again when it was cut short
berth secrets list       the keys, and what still needs each of them
berth secrets drop ID    forgets a former key for good

Former keys lie beside the key file, encrypted with the newest key: they open backups from before. Copy both files
after a rotation.
It works on the installation of this host, or on the one whose data directory PANEL_DATA_DIR names.
Exit 0 done, 1 refused (code and message on standard error), 2 wrong use.`

export async function secrets(args: readonly string[]): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(usage)
    return 0
  }
  const [command, id, ...more] = args
  if (command === 'rotate' && id === undefined) return show(await rotated(), words)
  if (command === 'list' && id === undefined) return show(await call(listSecretKeys, {}), listed)
  if (command === 'drop' && id !== undefined && !more.length)
    return show(await call(dropSecretKey, { key: id }), ({ key }) => `The key ${key} is gone.`)
  console.error(usage)
  return 2
}

/** Again where it was cut short: it goes on with what it has begun. */
const rotated = (): Promise<Response> =>
  call(rotateSecrets, {}).catch((error) => {
    if (!(error instanceof CutShort)) throw error
    return Bun.sleep(200).then(rotated)
  })

const words = ({ key, encrypted, setAside }: { key: string; encrypted: number; setAside: string[] }) =>
  `${encrypted} ${encrypted === 1 ? 'value' : 'values'} re-encrypted with the key ${key}. ` +
  (setAside.length
    ? `${named(setAside).replace('t', 'T')} ${setAside.length === 1 ? 'is a former key' : 'are former keys'}, for ` +
      'earlier backups: copy the key file and the file beside it to where you keep them.'
    : 'The old key stays: something was encrypted with it meanwhile. Run this again.')

type Listed = { keys: { id: string; values: number; setAsideAt: string | null }[]; missing: string[] }
const listed = ({ keys, missing }: Listed) =>
  [
    ...keys.map(({ id, values, setAsideAt }) => {
      const inDatabase = `${values} ${values === 1 ? 'value' : 'values'} in the database`
      return setAsideAt === null
        ? `${id}  in the key file; ${inDatabase}`
        : `${id}  former key; ${inDatabase}; backups and replicas from before ${setAsideAt} need it`
    }),
    ...missing.map(
      (id) => `${id}  MISSING: values in the database need it. Add its line from your copy of the key file.`,
    ),
  ].join('\n')
