// The brand that an account sees. The installation has one; a reseller may have one for its own customers,
// and inherits the rest from the installation.
import type { Db } from '../../kernel/db/open.ts'
import type { Brand } from '../../kernel/web/brand.ts'
import { brandCss } from './brand-style.ts'
import { type BrandRow, brandRowsFor, isAccentInUse, logoByHash } from './queries.ts'

const supportHref = (link: string | null) => (link?.includes(':') ? link : link && `mailto:${link}`)

/** The brand of the account's reseller, completed by the installation's; `''` is a visitor. */
export function brandFor(db: Db, accountId: string): Brand {
  const rows = brandRowsFor(db, accountId)
  const first = <K extends keyof BrandRow>(name: K) => rows.find((row) => row[name] !== null)?.[name] ?? null
  const name = first('name') ?? 'Berth'
  // A reseller's name goes before the installation's sender: its customers would not know who that is.
  const sender = rows.find((row) => row.senderName !== null || row.name !== null)
  return {
    name,
    accent: first('accent'),
    logo: first('logo'),
    // Never the provider's where a reseller has a brand of its own: its customers do not know the provider.
    support: supportHref(rows[0]?.supportLink ?? null),
    sender: { name: sender?.senderName ?? sender?.name ?? name, address: first('senderAddress') },
  }
}

const immutable = { 'Cache-Control': 'public, max-age=31536000, immutable' }
const notFound = () => new Response('Not found\n', { status: 404, headers: { 'Content-Type': 'text/plain' } })

/** Answers `/brand/*`: only a logo or colour that is set, so an address that somebody makes up answers nothing. */
export function answerBrand(db: Db, request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  const given = searchParams.get('v')
  const current = brandFor(db, '')
  const caching = { ...immutable, ...(given === null ? { 'Cache-Control': 'no-cache' } : {}) }
  if (pathname === '/brand/logo') {
    const found = logoByHash(db, given ?? current.logo ?? '')
    return found
      ? new Response(found.logo as BodyInit, { headers: { ...caching, 'Content-Type': found.logoType } })
      : notFound()
  }
  const accent = given === null ? current.accent : isAccentInUse(db, `#${given}`) ? `#${given}` : null
  if (pathname !== '/brand/brand.css' || !accent) return notFound()
  return new Response(brandCss(accent), { headers: { ...caching, 'Content-Type': 'text/css; charset=utf-8' } })
}
