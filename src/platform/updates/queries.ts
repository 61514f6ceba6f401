// Small values of the installation about updates.
import { type Static, Type as t } from 'typebox'
import { time } from '../../kernel/api/operation.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { getSetting, putSetting, removeSetting } from '../../kernel/db/queries.ts'

const SOURCE = 'updates.source'
const OFFER = 'updates.offer'
const DOWNLOAD = 'updates.download'
const CHECK = 'updates.check'
const REQUEST = 'updates.request'
const AUDITED = 'updates.audited'

/** The address where releases are looked for; undefined: none. */
export const sourceOf = (tx: Db) => getSetting(tx, SOURCE) as string | undefined
export function keepSource(tx: Tx, url: string | null) {
  if (url === null) removeSetting(tx, SOURCE)
  else putSetting(tx, SOURCE, url)
  removeSetting(tx, OFFER)
  removeSetting(tx, DOWNLOAD)
}

/** The file at the address when somebody looked; `version` is null where it is no release that counts. */
export type Offer = {
  at: number
  by: string
  version: string | null
  date: string | null
  totalBytes: number
  refused: string | null
}
export const offerOf = (tx: Db) => getSetting(tx, OFFER) as Offer | undefined
export const keepOffer = (tx: Tx, offer: Offer) => putSetting(tx, OFFER, offer)

/** A download that is to be made, until it has ended well. `error`: why it ended otherwise. */
export type Download = { version: string; url: string; totalBytes: number; error: string | null }
export const downloadOf = (tx: Db) => getSetting(tx, DOWNLOAD) as Download | undefined
export const keepDownload = (tx: Tx, download: Download) => putSetting(tx, DOWNLOAD, download)
export const endDownload = (tx: Tx) => removeSetting(tx, DOWNLOAD)

/** `warn` and `info` refuse nothing. */
export const finding = t.Object({ result: t.Enum(['ok', 'info', 'warn', 'bad']), what: t.String(), words: t.String() })
export type Finding = Static<typeof finding>
export const checkFields = {
  version: t.String(),
  at: time,
  by: t.String(),
  stopsSeconds: t.Integer(),
  findings: t.Array(finding),
}
const check = t.Object(checkFields)
export type Check = Static<typeof check>
export const checkOf = (tx: Db) => getSetting(tx, CHECK) as Check | undefined
export const keepCheck = (tx: Tx, made: Check) => putSetting(tx, CHECK, made)

/**
 * An update that somebody asked for. `handedAt`: when it was handed to root, which happens at most once, because the
 * database of before an update that went back still has the request.
 */
export type UpdateRequest = { version: string; file: string; by: string; at: number; handedAt: number | null }
export const requestOf = (tx: Db) => getSetting(tx, REQUEST) as UpdateRequest | undefined
export const keepRequest = (tx: Tx, request: UpdateRequest) => putSetting(tx, REQUEST, request)
export const endRequest = (tx: Tx) => removeSetting(tx, REQUEST)

/** The end of the last update that the audit log has, as an ISO text. */
export const auditedUntil = (tx: Db) => getSetting(tx, AUDITED) as string | undefined
export const keepAuditedUntil = (tx: Tx, endedAt: string) => putSetting(tx, AUDITED, endedAt)
