// A page: its address, its reads, its view. By its type it reads only what it lists and writes nothing: reads are GET
// operations, and a button is a call of the API that the browser makes.
import type { Static } from 'typebox'
import type { Actor } from '../api/actor.ts'
import { ApiError, type FieldError } from '../api/errors.ts'
import {
  type AppContext,
  type CallResult,
  type Client,
  type Gate,
  mayCall,
  type Operation,
  type Query,
} from '../api/operation.ts'
import type { UiPreferences } from '../register.ts'
import type { Brand } from './brand.ts'
import type { Html } from './html.ts'
import type { NavEntry } from './navigation.ts'

type Read = Operation<any, any, any, 'GET', any>
type RequestContext = { params?: Readonly<Record<string, string>>; query?: Query }

/** Where the page is being shown, and to whom. */
export type At = {
  path: string
  params: Readonly<Record<string, string>>
  query: Query
  actor: Actor
  csrf: string
  uiPreferences: UiPreferences | undefined
  client: Client
  origin: string
  now: number
  /** As whom the panel shows itself to this viewer. */
  brand: Brand
  /** All that the features of this controller declare. */
  registry: AppContext['registry']
  /** Would the gate let this actor call it? Buttons are drawn by it. */
  may(op: Operation): boolean
  /** Would this reader be shown what stands at this address? Also true for what is no page of ours. */
  leads(href: string): boolean
  /** Does the navigation of this reader have the entry? */
  isInNav(entry: NavEntry): boolean
  /** The controller lets nodes enroll over plain HTTP, which staff are warned about. */
  insecure: boolean
  /** The form of the page that was refused just now. */
  refusedForm?: RefusedForm
}

/** A form that a browser sent by itself, refused. `kept`: the fields that it has again. */
export type RefusedForm = {
  message: string
  fields: readonly FieldError[]
  kept: Readonly<Record<string, string>>
}

type Reading<O extends Read> = {
  op: O
  ask: (at: At, before: any) => RequestContext | undefined
  optional: boolean
  all?: true
  named?: true
  refusable?: true
  /** Of live parts, only the one with this id has it; null: none. */
  onlyPart?: string | null
}
/** Reads with other parameters than the page's own. */
export const reading = <O extends Read>(op: O, ask: (at: At) => RequestContext): Reading<O> & { optional: false } => ({
  op,
  ask,
  optional: false,
})
/**
 * Reads what the page's address, or a response `before` it by the name of its read, may name; undefined where it names
 * nothing, or nothing that this reader sees.
 */
export const ifNamed = <O extends Read>(
  op: O,
  ask: (at: At, before: any) => RequestContext | undefined,
): Reading<O> & { optional: true } => ({ op, ask, optional: true, named: true })
/** A refusal in place of a response. */
export type Refused = { refused: { code: string; message: string } }
/** The statuses of what the state of a thing refuses, and of limits. */
const mayPass: ReadonlySet<number> = new Set([409, 422])
/** Reads what may be refused at this moment: the page shows the refusal in its place. */
export const orRefused = <O extends Read>(
  op: O,
  ask: (at: At) => RequestContext,
): Reading<O> & { optional: false; refusable: true } => ({ op, ask, optional: false, refusable: true })
/** Reads what not everybody who may see the page may see; undefined for those. */
export const ifAllowed = <O extends Read>(
  op: O,
  ask: (at: At) => RequestContext = ({ params }) => ({ params }),
): Reading<O> & { optional: true } => ({ op, ask, optional: true })

/** A list to its end, for a form that chooses from it: what comes after the first page must be there as well. */
export const readingAll = <O extends Read>(op: O): Reading<O> & { optional: false } => ({
  op,
  ask: () => ({}),
  optional: false,
  all: true,
})
export const allIfAllowed = <O extends Read>(op: O): Reading<O> & { optional: true } => ({
  op,
  ask: () => ({}),
  optional: true,
  all: true,
})
/**
 * Reads what stands outside of the live parts of a page only, such as the choices of its filters: for a live part it is
 * not read, and its changes send no part again.
 */
export const aroundParts = <O extends Read, Optional extends boolean>(
  read: Reading<O> & { optional: Optional },
): Reading<O> & { optional: true } => ({ ...read, optional: true, onlyPart: null })
/**
 * Reads what one live part shows, and no other: what is new every few seconds sends the other parts no more often, and
 * is not read for them.
 */
export const inPart = <O extends Read, Optional extends boolean>(
  id: string,
  read: Reading<O> & { optional: Optional },
): Reading<O> & { optional: true } => ({ ...read, optional: true, onlyPart: id })

export type Reads = Record<string, Read | Reading<any>>
type AnswerOf<R> = R extends { op: infer O; refusable: true }
  ? O extends Read
    ? Static<O['response']> | Refused
    : never
  : R extends { op: infer O; optional: infer Opt }
    ? O extends Read
      ? Opt extends true
        ? Static<O['response']> | undefined
        : Static<O['response']>
      : never
    : R extends Read
      ? Static<R['response']>
      : never
export type Answers<R extends Reads> = { [K in keyof R]: AnswerOf<R[K]> }

export type Page<R extends Reads = any> = {
  path: string
  reads: R
  /** The window's title and the last part of the breadcrumb. */
  title: string | ((data: Answers<R>) => string)
  /** Which entry of the navigation is current. */
  nav?: string
  /** Where this reader has it instead: another page of the site. */
  elsewhere?(at: At): string | undefined
  /** Shown without signing in. */
  open?: true
  /** Names of style sheets and scripts beside those of every page, in the order in which they are loaded. */
  files?: readonly string[]
  /** A library of the page makes style sheets and style attributes itself. Only such a page may have them. */
  madeStyles?: true
  /** Its form that works without script. */
  takes?: NativeForm
  view(data: Answers<R> & { at: At }): Html
}

/**
 * A form that a browser may send by itself, to the page's address. It calls an operation that is open to anyone, or,
 * with `signedIn`, one that its sender may call.
 */
export type NativeForm = {
  op: Operation
  signedIn?: true
  /** The fields that the form has again when it is refused; never a secret. */
  keeps: readonly string[]
  /** The page to go to then. */
  leadsTo(response: any, at: At): string
}

export const page = <const R extends Reads>(p: Page<R>): Page<R> => p

export type Rendered = { title: string; body: Html; page: Page }

/** The page over the responses of its reads. */
export function render(p: Page, data: Answers<any>, at: At): Rendered {
  const title = typeof p.title === 'string' ? p.title : p.title(data as any)
  return { title, body: p.view({ ...data, at } as any), page: p }
}

/**
 * The responses of the reads, by name. Throws `ApiError`, like the operations: a page shows nothing that its reader may
 * not read.
 */
export async function readAll<R extends Reads>(
  reads: R,
  gate: Gate,
  at: At,
  { part = null }: { part?: string | null } = {},
): Promise<Answers<R>> {
  const data: Record<string, unknown> = {}
  for (const [name, read] of Object.entries(reads) as [string, Read | Reading<Read>][]) {
    const { op, ask, optional, all, named, refusable, onlyPart }: Reading<Read> =
      'op' in read ? read : { op: read, ask: ownParams, optional: false }
    if ((optional && !at.may(op)) || (onlyPart !== undefined && part !== null && part !== onlyPart)) continue
    const asked = ask(at, data)
    if (!asked) continue
    const { params = {}, query = {} } = asked
    const answered = async (asked: Query) =>
      (await (gate(op, at.actor, { params, query: asked, client: at.client }) as CallResult | Promise<CallResult>)).body
    try {
      data[name] = all ? await toItsEnd(answered) : await answered(filled(query))
    } catch (error) {
      if (refusable && error instanceof ApiError && mayPass.has(at.registry.errors[error.code].status)) {
        data[name] = { refused: { code: error.code, message: error.message } } satisfies Refused
        continue
      }
      if (!(named && error instanceof ApiError && error.code.endsWith('_not_found'))) throw error
    }
  }
  return data as Answers<R>
}

type Listed = { data: unknown[]; nextCursor: string | null }
async function toItsEnd(answered: (query: Query) => Promise<unknown>): Promise<Listed> {
  const first = (await answered({ limit: '200' })) as Listed
  // A copy: a page of a list may be kept for the next who asks.
  const whole = { ...first, data: [...first.data] }
  while (whole.nextCursor !== null) {
    // Others have their turn between two pages.
    await Bun.sleep(0)
    const { data, nextCursor } = (await answered({ limit: '200', cursor: whole.nextCursor })) as Listed
    whole.data.push(...data)
    whole.nextCursor = nextCursor
  }
  return whole
}

/** A form sends the fields that were left empty, too: for a page they are not asked for. */
const filled = (query: Query): Query => Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))

/** The page's own parameters, and of its query what the operation knows: a list page's filters are its address. */
const ownParams = ({ params, query }: At): RequestContext => ({ params, query })

export const mayFor = (actor: Actor) => (op: Operation) => mayCall(op, actor)

/** The address of a page without its ids: the same as it is declared and as it is asked for. */
export const shapeOf = (path: string) => path.replace(/\{\w+\}|[a-z]+_[0-9a-z]{26}/g, '{}')

export type Leads = (href: string, actor: Actor) => boolean
/** Which addresses lead an actor to a page: those whose every read that is not optional the gate would let through. */
export function leadingTo(pages: readonly Page[]): Leads {
  const byShape = new Map(pages.map((p) => [shapeOf(p.path), p]))
  return (href, actor) => {
    const p = byShape.get(shapeOf(href.split(/[?#]/, 1)[0]!))
    if (!p || p.open) return true
    return (Object.values(p.reads) as (Read | Reading<Read>)[]).every((read) =>
      'op' in read ? read.optional || mayCall(read.op, actor) : mayCall(read, actor),
    )
  }
}

/** Does the page read only what this kind of account may read, with the right permissions? `/admin` is of staff. */
export const isFor = ({ path, reads }: Page, { kind }: Actor): boolean =>
  (kind === 'staff' || !/^\/admin(\/|$)/.test(path)) &&
  (Object.values(reads) as (Read | Reading<Read>)[]).every((read) => {
    const { access } = 'op' in read ? read.op : read
    return ('op' in read && read.optional) || access === 'anyone' || access[kind] !== undefined
  })

/** A page that is not there looks like one that is not for you. */
export const noPage = () => new ApiError('not_found', 'There is no page at this address.')
