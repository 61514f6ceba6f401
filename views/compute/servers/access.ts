// Image and access: what every installation asks for.
import type { listOfferedImages } from '../../../src/catalog/images/images.ts'
import { listSshKeys } from '../../../src/identity/ssh-keys/ssh-keys.ts'
import { type Html, html } from '../../../src/kernel/web/html.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { pathOf } from '../../components/act.ts'
import { type Option, radios } from '../../components/field.ts'
import { bytes, exactGb } from '../../components/words.ts'

type Image = Answers<{ images: typeof listOfferedImages }>['images']['data'][number]

/** Images that do not fit stay in the list and say why. */
export const imageOptions = (images: readonly Image[], diskGb: number | undefined): Option[] =>
  images.map((i) => ({
    value: i.id,
    label: i.name,
    hint: html`Needs ${exactGb(i.minDiskGb)} disk${i.sizeBytes > 0 && html` · ${bytes(i.sizeBytes)}`}. `,
    why: diskGb !== undefined && i.minDiskGb > diskGb ? `Too large: the disk has ${exactGb(diskGb)}.` : undefined,
  }))

/** The owner's keys are fetched by public/panel/ssh-keys.js: whose they are may be chosen on the same page. */
export const accessFields = (scope: string, ownerId: string | undefined, mode = 'password'): Html => html`
  ${radios(scope, 'access.mode', {
    label: 'Sign-in as root',
    value: mode,
    options: [
      { value: 'password', label: 'Password', hint: 'Made for this server and shown once.' },
      { value: 'ssh_keys', label: 'SSH keys', hint: 'No password is set.' },
    ],
  })}
  <fieldset class="f keys" id="${scope}-keys" data-list="access.sshKeyIds" data-keys-of="${ownerId ?? ''}"${ownerId && html` data-url="${pathOf(listSshKeys, { id: ownerId })}"`} hx-morph-skip-children><legend>SSH keys</legend><div class="ticks"><span class="muted">Choose the customer first.</span></div></fieldset>`
