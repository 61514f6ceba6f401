// The words of the messages: those of the import, or the usual ones.
import type { Db } from '../../kernel/db/open.ts'
import { list } from '../../kernel/words.ts'
import type { ImportRecord } from '../import-records/model.ts'
import { messageOf } from './queries.ts'
import type { MessageKind } from './tables.ts'

export type Words = { isOn: boolean; subject: string; words: string }

/** As long as nobody has changed them. `after` goes out as soon as owners are told at all. */
export const usualWords: Readonly<Record<MessageKind, Words>> = {
  before: {
    isOn: false,
    subject: 'We are about to move {servers}',
    words: `We are moving to another platform, and {servers} will come along. You need to do nothing.

It is off for a short time while it moves. Its files, its passwords and its price stay.`,
  },
  during: {
    isOn: false,
    subject: '{server} is being moved now',
    words: `We are moving {server} to our new platform now.
It is off for a short time meanwhile, and starts again by itself.`,
  },
  after: {
    isOn: true,
    subject: '{server} has moved',
    words: `{server} runs on our new platform now. Its files and its passwords are as they were.`,
  },
}

/** The placeholders of each kind, and what they become. */
export const placeholders = {
  before: { servers: 'the hostnames of all its servers' },
  during: { server: 'its hostname' },
  after: { server: 'its hostname' },
} as const satisfies Record<MessageKind, Record<string, string>>

/** Names in braces that are no placeholders of this kind. */
export const unknownPlaceholders = (kind: MessageKind, text: string): string[] =>
  [...text.matchAll(/\{([^{}\s]{1,40})\}/g)].map(([, name]) => name!).filter((name) => !(name in placeholders[kind]))

export function wordsOf(tx: Db, importId: string, kind: MessageKind): Words {
  const own = messageOf(tx, importId, kind)
  return own ? { isOn: own.isOn, subject: own.subject, words: own.words } : usualWords[kind]
}
/** Does it go out by itself? */
export const goesOut = (tx: Db, { id, emailsOwners }: Pick<ImportRecord, 'id' | 'emailsOwners'>, kind: MessageKind) =>
  emailsOwners && wordsOf(tx, id, kind).isOn

const inWords = (hostnames: readonly string[], most: number): string =>
  list(hostnames.length > most ? [...hostnames.slice(0, most), `${hostnames.length - most} more`] : hostnames)
const MOST_NAMED = 20
/** A subject is one line. */
const MOST_IN_SUBJECT = 3

/** The subject, and the words in paragraphs. `hostnames`: of the servers that the message is about. */
export function filled({ subject, words }: Words, hostnames: readonly string[]) {
  const fill = (text: string, most: number) => {
    const values: Readonly<Record<string, string>> = { server: hostnames[0]!, servers: inWords(hostnames, most) }
    return text.replace(/\{([^{}\s]{1,40})\}/g, (all, name: string) => values[name] ?? all)
  }
  return {
    subject: fill(subject, MOST_IN_SUBJECT).slice(0, 200),
    paragraphs: fill(words, MOST_NAMED)
      .split(/\n\s*\n/)
      .map((each) => each.replace(/\s+/g, ' ').trim())
      .filter((each) => each !== ''),
  }
}

const NAMES = 'Change what names the old addresses, such as DNS records, firewalls and licences.'
/** The paragraphs that an owner gets in any case after a move. */
export const addressWords = (before: readonly string[], now: readonly string[]): string[] =>
  before.every((one) => now.includes(one))
    ? [`It keeps its addresses: ${list(now)}.`]
    : [
        `Its new addresses: ${list(now)}.`,
        `Its addresses of before do not lead to it any more: ${list(before)}.`,
        NAMES,
      ]
