// The words of messages: ready texts to begin with, and what the names in braces become.

import { list } from '../../kernel/words.ts'
import { durationText, minuteTextIn } from './local-time.ts'
import type { Filled, Message } from './tables.ts'

/** Names that the time of the work fills. */
export const workNames = ['start', 'end', 'duration'] as const

/** The names in braces, and what each becomes. */
export const placeholders = {
  customer: 'the name of the reader',
  servers: 'the hostnames of the servers that it is about',
  location: 'their locations',
  node: 'their nodes',
  date: 'the day on which it is sent',
  start: 'when the work begins, in the time zone of the reader',
  end: 'when it ends, in the time zone of the reader',
  duration: 'how long the work takes',
} as const

type Template = { title: string; subject: string; words: string; isService: boolean }
export const templates = {
  empty: { title: 'Empty', subject: '', words: '', isService: true },
  maintenance: {
    title: 'Planned maintenance',
    subject: 'Planned maintenance in {location}',
    words:
      'From {start} until {end} we are going to work on one of our machines in {location}. ' +
      `These servers of yours are concerned: {servers}.

They may be off for some minutes meanwhile. Addresses, data and backups stay as they are. You need not do anything.`,
    isService: true,
  },
  outage: {
    title: 'Outage',
    subject: 'Outage in {location}',
    words: `A machine of ours in {location} does not work as it should. These servers of yours are concerned: {servers}.

We are working on it and write again when it is solved.`,
    isService: true,
  },
  addresses: {
    title: 'Change of addresses',
    subject: 'Addresses of your servers will change',
    words: `The addresses of these servers of yours will change: {servers}.

Change what names the old addresses, such as DNS records, firewalls and licences.`,
    isService: true,
  },
  news: { title: 'News', subject: 'News', words: '', isService: false },
} as const satisfies Record<string, Template>
export type TemplateName = keyof typeof templates

/** To the owner of an address that a report names. `at`: the moment that it names, in words; null: none. */
export const reportWords = (address: string, at: string | null, { hasServer }: { hasServer: boolean }) => ({
  subject: `A report about the address ${address}`,
  text: `We got a report about the address ${address}${at === null ? '' : ` on ${at}`}, which ${
    hasServer ? 'belonged to your server {servers}' : 'was yours'
  }.

Please find out what happened, put it right, and write back to us what you did.`,
})

const NAME = /\{([^{}\s]{1,40})\}/g
const namesIn = (text: string) => [...new Set([...text.matchAll(NAME)].map(([, name]) => name!))]
type Written = Pick<Message, 'subject' | 'words' | 'workStartsAt'>
const isOfWork = (name: string) => (workNames as readonly string[]).includes(name)

/** Names in braces that nothing fills. */
export const unknownNames = ({ subject, words }: Written): string[] =>
  namesIn(`${subject} ${words}`).filter((name) => !(name in placeholders))

/** Names in braces that a time of the work would fill, and it has none. */
export const namesWithoutTime = ({ subject, words, workStartsAt }: Written): string[] =>
  workStartsAt === null ? namesIn(`${subject} ${words}`).filter(isOfWork) : []

/** The values of the names of the work, for a reader in this time zone. */
export const workValues = ({ workStartsAt, workEndsAt }: Message, zone: string): Filled =>
  workStartsAt === null || workEndsAt === null
    ? {}
    : {
        start: minuteTextIn(workStartsAt, zone),
        end: minuteTextIn(workEndsAt, zone),
        duration: durationText(workEndsAt - workStartsAt),
      }

const MOST_NAMED = 50
/** `web01, web02 and 3 more` */
export const named = (names: readonly string[]): string =>
  list(names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), `${names.length - MOST_NAMED} more`] : names)

/** The subject, and the words in paragraphs, for one reader. */
export function filledIn({ subject, words }: { subject: string; words: string }, values: Filled) {
  const fill = (text: string) => text.replace(NAME, (all, name: string) => values[name] ?? all)
  return {
    subject: fill(subject).replace(/\s+/g, ' ').slice(0, 200),
    paragraphs: fill(words)
      .split(/\n\s*\n/)
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  }
}
