// Image and access: what every installation asks for.

import type { AssetName } from '../../../public/assets.ts'
import type { listOfferedImages } from '../../../src/catalog/images/images.ts'
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { byFamily } from '../../catalog/images/os.tsx'
import { pathOf } from '../../components/action.tsx'
import { Radios } from '../../components/choices.tsx'
import type { Option } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { bytes, exactGb } from '../../components/words.ts'

type Image = Answers<{ images: typeof listOfferedImages }>['images']['data'][number]

/** By family, the newest version first. Images that do not fit stay and say why. `diskGb` undefined: no package yet. */
export const imageOptions = (images: readonly Image[], diskGb: number | undefined): Option[] =>
  images.toSorted(byFamily).map((i) => ({
    value: i.id,
    label: i.name,
    hint: `Needs ${exactGb(i.minDiskGb)} disk${i.sizeBytes > 0 ? ` · ${bytes(i.sizeBytes)}` : ''}.`,
    why:
      diskGb !== undefined && i.minDiskGb > diskGb
        ? `Needs ${exactGb(i.minDiskGb)} of disk; there are ${exactGb(diskGb)}.`
        : undefined,
  }))

/** The default that staff chose, or where it does not fit the image that was added first: never the latest upload. */
export function defaultImage(images: readonly Image[], options: readonly Option[]): string | undefined {
  const possible = new Set(options.filter((o) => !o.why).map((o) => o.value))
  const fitting = images.filter((i) => possible.has(i.id)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return (fitting.find((i) => i.isDefault) ?? fitting[0])?.id
}

/** The files of pages with these fields. */
export const accessFiles = ['ssh-keys.mjs'] satisfies AssetName[]

/** Is the image that is installed one of Windows? `maybe`: it is chosen on the same page, and some are. */
export type Windows = 'no' | 'yes' | 'maybe'
/** For a page on which any of these can be chosen. */
export const windowsAmong = (images: readonly Image[]): Windows =>
  images.some(({ os }) => os === 'windows') ? (images.every(({ os }) => os === 'windows') ? 'yes' : 'maybe') : 'no'

const signIn = { no: 'Sign-in as root', yes: 'Sign-in as Administrator', maybe: 'Sign-in' } as const
const byKeys = (windows: Windows) => ({
  value: 'ssh_keys',
  label: 'SSH keys',
  hint: windows === 'maybe' ? 'No password is set. Not for Windows.' : 'No password is set.',
})

type AccessProps = { scope: string; ownerId: string | undefined; mode?: string | undefined; windows?: Windows }
/** public/panel/forms/ssh-keys.js fetches the owner's keys: the owner may be chosen on the same page. */
export const AccessFields = ({ scope, ownerId, mode = 'password', windows = 'no' }: AccessProps) => (
  <>
    <Radios
      scope={scope}
      name="access.mode"
      label={signIn[windows]}
      value={windows === 'yes' ? 'password' : mode}
      options={[
        { value: 'password', label: 'Password', hint: 'Made for this server and shown once.' },
        ...(windows === 'yes' ? [] : [byKeys(windows)]),
      ]}
    />
    <fieldset
      class="f keys"
      id={`${scope}-keys`}
      data-list="access.sshKeyIds"
      data-keys-of={ownerId ?? ''}
      data-url={ownerId ? pathOf(listSshKeys, { id: ownerId }) : undefined}
      hx-morph-skip-children
    >
      <legend>SSH keys</legend>
      <div class="ticks">
        <span class="muted">Choose the customer first.</span>
      </div>
    </fieldset>
  </>
)

/** In place of the list where no image can be chosen. */
export const NoImages = ({ staff }: { staff: boolean }) => (
  <p class="muted">
    {staff ? (
      <>
        No image is published. <Link href="/admin/images">Add one</Link> first.
      </>
    ) : (
      'No image is offered yet. Ask your provider.'
    )}
  </p>
)

const passwordWords = {
  no: ['Root password', 'Sign in as root with it, over SSH or on the console.'],
  yes: ['Administrator password', 'Sign in as Administrator with it, by Remote Desktop or on the console.'],
  maybe: ['Password', 'Sign in with it as root over SSH; on Windows as Administrator by Remote Desktop.'],
} as const
/** Shows the password of an installation or a reset, this one time. */
export const rootPassword = (of: string, windows: Windows = 'no') => ({
  field: 'rootPassword',
  title: `${passwordWords[windows][0]} of ${of}`,
  words: passwordWords[windows][1] as string,
})
