// The words of messages: ready texts to begin with, and what the names in braces become.
import { list } from '../../kernel/words.ts'
import type { Filled } from './tables.ts'

/** The names in braces, and what each becomes. */
export const placeholders = {
  customer: 'the name of the reader',
  servers: 'the hostnames of the servers that it is about',
  location: 'their locations',
  node: 'their nodes',
  date: 'the day on which it is sent',
} as const

type Template = { title: string; subject: string; words: string; isService: boolean }
export const templates = {
  empty: { title: 'Empty', subject: '', words: '', isService: true },
  maintenance: {
    title: 'Planned maintenance',
    subject: 'Planned maintenance in {location}',
    words: `We are going to work on one of our machines in {location}. These servers of yours are concerned: {servers}.

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
/** Names in braces that nothing fills. */
export const unknownNames = (text: string): string[] => [
  ...new Set([...text.matchAll(NAME)].map(([, name]) => name!).filter((name) => !(name in placeholders))),
]

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
