// restic's messages as findings. Up to 0.16 nearly every failure exits with 1, so its words decide; they are those of
// 0.14 to 0.18, of OpenSSH, and of the S3 library in restic.
import type { BackupFinding } from '../../protocol/backup.ts'

/** `missing`: the target answers, and has no repository yet. `there`: it has one, against what was expected. */
export type Meaning = Exclude<BackupFinding, 'works'> | 'missing' | 'there' | 'no_snapshot' | 'damaged'

/** The first that fits counts: a message about a certificate also asks whether there is a repository. */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/wrong password or no key found/i, 'wrong_password'],
  [/no matching ID found|no snapshot found/i, 'no_snapshot'],
  // 0.18, asked for a whole id.
  [/failed to (find|load) snapshot.*(no such file|does not exist|not found|\b404\b|specified key)/i, 'no_snapshot'],
  [/pack id does not match|ciphertext verification failed|repository contains errors|hash mismatch/i, 'damaged'],
  [/invalid data returned|is damaged|(pack|blob|tree) \S+:? (does not exist|not found)/i, 'damaged'],
  [/no space left|insufficient storage|\b507\b|quota ?exceeded|disk full|XMinioStorageFull/i, 'full'],
  [/x509:|certificate|tls: |server gave HTTP response to HTTPS/i, 'certificate'],
  [/host key verification failed|remote host identification has changed/i, 'host_key'],
  [/permission denied \((publickey|password|keyboard)|\b401\b|unauthorized|\b403\b|forbidden/i, 'login_refused'],
  [
    /access ?denied|invalid ?access ?key|signature.*does ?not ?match|invalid format|error in libcrypto/i,
    'login_refused',
  ],
  [/repository is already locked|unable to create lock/i, 'locked'],
  [/permission denied|read-only file system|operation not permitted|SSH_FX_PERMISSION_DENIED/i, 'not_writable'],
  [/no such host|could not resolve|name or service not known|network is unreachable|no route to host/i, 'unreachable'],
  [/connection (refused|reset|timed out|closed)|i\/o timeout|broken pipe|unexpected EOF/i, 'unreachable'],
  [/config file already exists|already initialized|repository already contains/i, 'there'],
  [/no such file|does not exist|\b404\b|not found|NoSuchKey|specified key/i, 'missing'],
  [/did not end within/i, 'slow'],
]

export const meaningOf = (message: string): Meaning => meanings.find(([words]) => words.test(message))?.[1] ?? 'failed'

/** The line of a message that says most, with every secret replaced. */
export function detailOf(message: string, secrets: readonly string[]): string {
  const lines = message
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text && !/^(Is there a repository|rest:|s3:|sftp:|\/|Please note|created restic)/.test(text))
  const said = lines.findLast((text) => /^fatal:|error/i.test(text)) ?? lines.at(-1) ?? ''
  return secrets.filter((one) => one.length > 3).reduce((text, one) => text.replaceAll(one, '***'), said)
}
