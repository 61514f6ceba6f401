// The brand of the installation and the brand of a reseller: the same operations for both.
import { type Static, Type as t } from 'typebox'
import { mailAddress } from '../../identity/account-records/model.ts'
import { accountByEmail } from '../../identity/account-records/queries.ts'
import type { AccountKind, Scope } from '../../kernel/api/access.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { invalid } from '../../kernel/api/errors.ts'
import {
  type AppContext,
  described,
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  secret,
} from '../../kernel/api/operation.ts'
import { digest } from '../../kernel/crypto/secrets.ts'
import type { Db } from '../../kernel/db/open.ts'
import { mailServer } from '../../kernel/mail/mail-server.ts'
import { urlFrom } from '../../kernel/net/typed-url.ts'
import { contrastWithWhite, LEAST_CONTRAST, logoUrl } from './brand-style.ts'
import { type BrandOwner, brandingOf, isSenderOfAnother, saveBranding } from './queries.ts'

const brandResponse = namedSchema('Branding', {
  name: nullable(t.String()),
  accent: nullable(t.String()),
  senderName: nullable(t.String()),
  senderAddress: nullable(t.String()),
  supportLink: described(nullable(t.String()), 'A web address or an e-mail address; on the sign-in page, too.'),
  logo: described(nullable(t.String()), 'Where it is served; null without one.'),
})

const brandBody = fields({
  name: t.Optional(nullable(line(60))),
  accent: t.Optional(
    nullable(t.String({ maxLength: 7, pattern: '^#[0-9A-Fa-f]{6}$', title: 'a colour like #1d4ed8' })),
  ),
  senderName: t.Optional(nullable(line(60))),
  senderAddress: t.Optional(nullable(t.String({ maxLength: 254 }))),
  supportLink: t.Optional(nullable(line(254))),
})

function show(tx: Db, owner: BrandOwner): Static<typeof brandResponse> {
  const { logoHash, ...row } = brandingOf(tx, owner)
  return { ...row, logo: logoHash && logoUrl(logoHash) }
}

/** Throws `validation_failed` for a colour on which white text, as on buttons, is not readable. */
function mustBeRead(accent: string | null): string | null {
  if (accent === null) return null
  const contrast = contrastWithWhite(accent)
  if (contrast < LEAST_CONTRAST)
    throw invalid({
      field: 'accent',
      message:
        `is too light for white text on it: the contrast is ${contrast.toFixed(1)}, and it must be ` +
        `${LEAST_CONTRAST} or more. Choose a darker one.`,
    })
  return accent.toLowerCase()
}

/** Throws `validation_failed` for what is neither a web address nor an e-mail address. */
function supportLink(link: string | null): string | null {
  if (link === null || !link.includes(':')) return link && mailAddress(link, 'supportLink')
  const url = urlFrom(link)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw invalid({ field: 'supportLink', message: 'must begin with https://, or be an e-mail address.' })
  return url.href
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/**
 * A reseller's sender is its own address, not the provider's or another account's. Its mails leave through the
 * provider's mail server, so an address in the provider's domain would make them pass as mails of the provider.
 */
function mustBeItsOwn(tx: Db, { secrets }: AppContext, owner: string, address: string) {
  const holder = accountByEmail(tx, address)
  if ((holder && holder.id !== owner) || isSenderOfAnother(tx, owner, address))
    throw invalid({ field: 'senderAddress', message: 'belongs to another account here. Use an address of your own.' })
  const theirs = [mailServer(tx, secrets)?.from, brandingOf(tx, null).senderAddress]
    .filter((sender) => sender != null)
    .map(domainOf)
  const domain = domainOf(address)
  if (theirs.some((theirDomain) => domain === theirDomain || domain.endsWith(`.${theirDomain}`)))
    throw invalid({
      field: 'senderAddress',
      message: "is in your provider's own domain. Take an address in a domain of yours.",
    })
}

/** Formats by their first bytes, not by name or declared type. SVG is not accepted: it can contain scripts. */
const pictures: readonly [string, (bytes: Buffer) => boolean][] = [
  ['image/png', (b) => b.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))],
  ['image/jpeg', (b) => b.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/webp', (b) => b.toString('latin1', 0, 4) === 'RIFF' && b.toString('latin1', 8, 12) === 'WEBP'],
]
const MOST_LOGO_BYTES = 100_000

function pictureFrom(base64: string) {
  const logo = Buffer.from(base64, 'base64')
  if (logo.length > MOST_LOGO_BYTES)
    throw invalid({ field: 'image', message: 'is too large: it may have 100 kB at most.' })
  const logoType = pictures.find(([, fits]) => fits(logo))?.[0]
  if (!logoType) throw invalid({ field: 'image', message: 'must be a PNG, JPEG or WebP picture.' })
  return { logo, logoType, logoHash: digest(base64).slice(0, 24) }
}

type For = {
  id: string
  path: string
  whose: string
  may: Partial<Record<AccountKind, readonly [Scope]>>
  owner(actor: Actor): BrandOwner
}

function brandingFor({ id, path, whose, may, owner }: For) {
  const auditSnapshot = ({ tx, actor }: { tx: Db; actor: Actor }) => {
    const { logoHash: logo, ...row } = brandingOf(tx, owner(actor))
    return { ...row, logo }
  }
  return {
    get: operation({
      id: `${id}.get`,
      method: 'GET',
      path,
      summary: `Name, logo, colour, support link and mail sender of ${whose}; null is inherited`,
      access: may,
      response: brandResponse,
      run: ({ tx, actor }) => show(tx, owner(actor)),
    }),
    change: operation({
      id: `${id}.set`,
      method: 'PUT',
      path,
      summary: `Set name, colour, support link and mail sender of ${whose}; what is null or left out is inherited`,
      past: 'Changed the branding',
      access: may,
      body: brandBody,
      response: brandResponse,
      example: {
        name: 'Example Hosting',
        accent: '#1d4ed8',
        senderName: 'Example Hosting',
        senderAddress: 'support@example.com',
        supportLink: 'https://help.example.com',
      },
      auditSnapshot,
      run(call) {
        const { tx, actor, body } = call
        const whose = owner(actor)
        const senderAddress = body.senderAddress == null ? null : mailAddress(body.senderAddress, 'senderAddress')
        if (senderAddress !== null && whose !== null) mustBeItsOwn(tx, call, whose, senderAddress)
        saveBranding(tx, whose, {
          name: body.name ?? null,
          accent: mustBeRead(body.accent ?? null),
          senderName: body.senderName ?? null,
          senderAddress,
          supportLink: supportLink(body.supportLink ?? null),
        })
        return show(tx, whose)
      },
    }),
    setLogo: operation({
      id: `${id}.set-logo`,
      method: 'PUT',
      path: `${path}/logo`,
      summary: `Set the logo of ${whose}: a PNG, JPEG or WebP picture of up to 100 kB`,
      access: may,
      // `secret` keeps the picture out of the audit log, which has its digest before and after.
      body: fields({
        image: secret(
          t.String({
            minLength: 1,
            maxLength: 140_000,
            pattern: '^[A-Za-z0-9+/]+={0,2}$',
            title: 'a picture, as base64',
          }),
        ),
      }),
      response: brandResponse,
      example: { image: 'iVBORw0KGgo=' },
      auditSnapshot,
      run({ tx, actor, body }) {
        saveBranding(tx, owner(actor), pictureFrom(body.image))
        return show(tx, owner(actor))
      },
    }),
    removeLogo: operation({
      id: `${id}.remove-logo`,
      destroys: [],
      method: 'DELETE',
      path: `${path}/logo`,
      summary: `Remove the logo of ${whose}`,
      access: may,
      response: done,
      auditSnapshot,
      run({ tx, actor }) {
        saveBranding(tx, owner(actor), { logo: null, logoType: null, logoHash: null })
        return {}
      },
    }),
  }
}

export const ownBranding = brandingFor({
  id: 'branding',
  path: '/admin/settings/branding',
  whose: 'this installation',
  may: { staff: ['settings:write'] },
  owner: () => null,
})
export const resellerBranding = brandingFor({
  id: 'reseller-branding',
  path: '/reseller/branding',
  whose: 'the reseller, as its own customers see it',
  may: { reseller: ['account:write'] },
  owner: (actor) => actor.accountId,
})
export type BrandingCalls = typeof ownBranding
