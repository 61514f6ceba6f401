import { chosenByOperator, type Policy } from '../net/egress.ts'
import { folderStore } from './folder.ts'
import { s3Store } from './s3.ts'
import { sftpStore } from './sftp.ts'
import type { ObjectStore } from './store.ts'

/** `secret`: a private key of SSH, or the secret key of S3. `trust`: host keys, or the certificate of an authority. */
export type StoreAddress =
  | { kind: 'folder'; path: string }
  | { kind: 'sftp'; host: string; port: number; path: string; login: string; secret: string; trust: string }
  | { kind: 's3'; url: string; login: string; secret: string; trust: string }

/** Of an address in the settings of this host, whose administrator may also name this host itself. */
export const setOnHost: Policy = { ...chosenByOperator, loopback: true }

export function openStore(address: StoreAddress, policy: Policy, now: () => number): ObjectStore {
  switch (address.kind) {
    case 'folder':
      return folderStore(address.path)
    case 'sftp': {
      const { host, port, path, login: user, secret: privateKey, trust: hostKeys } = address
      return sftpStore({ host, port, path, user, privateKey, hostKeys }, policy)
    }
    case 's3': {
      const { url, login: accessKey, secret: secretKey, trust: authority } = address
      return s3Store({ url, accessKey, secretKey, authority }, policy, now)
    }
  }
}
