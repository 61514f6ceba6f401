// The fields of a form about a target differ by its kind.
import type { BackupTargetKind } from '../../../agent/protocol/backup.ts'
import { Field, TextArea } from '../../components/field.tsx'

type KeptTarget = { address: string; login: string | null; trust: string | null }
type Props = { scope: string; kind: BackupTargetKind; of?: KeptTarget }

const SECRET_KEPT = 'Leave empty to keep the one that is stored. Another host, login or key needs it anew.'
const authority = 'Only when its certificate is not of an authority that everybody trusts. Begins with -----BEGIN.'

export const Reach = ({ scope, kind, of: kept }: Props) => (
  <>
    <Field
      scope={scope}
      name="address"
      label={addresses[kind].label}
      required
      mono
      value={kept?.address}
      {...addresses[kind].more}
    />
    {kind !== 'local' && <Secrets scope={scope} kind={kind} {...(kept && { of: kept })} />}
  </>
)

const addresses = {
  rest: {
    label: 'Address',
    more: {
      placeholder: 'https://backups.example.com:8000/node1/',
      hint: 'Of Berth’s backup server or restic’s REST server, with the name of the login at its end.',
    },
  },
  sftp: {
    label: 'Address',
    more: {
      placeholder: 'sftp://backups.example.com/home/backups',
      hint: 'Host, port where it is not 22, and the folder from the root on.',
    },
  },
  s3: {
    label: 'Address',
    more: { placeholder: 'https://s3.example.com/bucket', hint: 'The endpoint, the bucket, and a folder in it.' },
  },
  local: {
    label: 'Folder',
    more: {
      placeholder: '/srv/backups',
      hint: 'Root makes the file .berth-backups in it on each node: a disk that is not mounted is noticed by that.',
    },
  },
} as const

/** The login that one node has for itself. */
export const NodeLogin = ({ scope, kind }: Pick<Props, 'scope' | 'kind'>) =>
  kind === 'local' ? null : (
    <>
      <Field scope={scope} name="login" label={logins[kind]} required mono />
      {kind === 'sftp' ? (
        <TextArea scope={scope} name="secret" label="Private key" required mono hint="Of SSH, without a passphrase." />
      ) : (
        <Field
          scope={scope}
          name="secret"
          label={kind === 's3' ? 'Secret key' : 'Password'}
          required
          type="password"
          autocomplete="new-password"
        />
      )}
    </>
  )

const logins = { rest: 'Login', sftp: 'User', s3: 'Access key' } as const

const Secrets = ({ scope, kind, of: kept }: Props & { kind: 'rest' | 'sftp' | 's3' }) => (
  <>
    <Field
      scope={scope}
      name="login"
      label={logins[kind]}
      required={kind !== 'rest'}
      mono
      value={kept?.login}
      hint={kind === 'rest' ? 'As “berth backup-server add” was told.' : undefined}
    />
    {kind === 'sftp' ? (
      <TextArea
        scope={scope}
        name="secret"
        label="Private key"
        required={!kept}
        mono
        hint={kept ? SECRET_KEPT : 'Of SSH, without a passphrase. Make one for this alone.'}
      />
    ) : (
      <Field
        scope={scope}
        name="secret"
        label={kind === 's3' ? 'Secret key' : 'Password'}
        required={kind === 's3' && !kept}
        type="password"
        autocomplete="new-password"
        hint={kept ? SECRET_KEPT : undefined}
      />
    )}
    <TextArea
      scope={scope}
      name="trust"
      label={kind === 'sftp' ? 'Host key' : 'Certificate of the authority'}
      required={kind === 'sftp'}
      mono
      rows={3}
      value={kept?.trust}
      hint={kind === 'sftp' ? 'As in ssh-keyscan, without the host: ssh-ed25519 AAAA…' : authority}
    />
  </>
)
