import type { ComponentChildren } from 'preact'
import { Drawing, Icon } from './icon.tsx'

type SectionProps = {
  /** Also of its heading, with `-t` behind it. */
  id: string
  title: ComponentChildren
  /** The heading is read aloud only. */
  quiet?: boolean
  /** Beside the heading, e.g. how many there are. */
  count?: ComponentChildren
  actions?: ComponentChildren
  /** One line below the heading. */
  words?: ComponentChildren
  /** Lists run to the edges; text keeps the gutter. */
  flush?: boolean
  /** No line above: the first below the page header. */
  first?: boolean
  /** A frame of its own: something measured. */
  panel?: boolean
  children?: ComponentChildren
}

/** A part of a page with a heading, parted from the one above by a line. */
export const Section = ({ id, title, quiet, count, actions, words, flush, first, panel, children }: SectionProps) => (
  <section
    class={panel ? 'panel' : `sec${flush ? ' flush' : ''}${first ? ' first' : ''}`}
    id={id}
    aria-labelledby={`${id}-t`}
  >
    <header class={quiet ? 'sr' : undefined}>
      <h2 id={`${id}-t`}>{title}</h2>
      {count !== undefined && <span class="muted">{count}</span>}
      {actions && <div class="acts">{actions}</div>}
    </header>
    {words && <p class="words muted">{words}</p>}
    {children}
  </section>
)

type Pair = readonly [name: string, value: ComponentChildren]

/** Names and values. A pair without a value is left out. `pairs`: in columns as wide as there is space. */
export const Facts = ({ of, pairs }: { of: readonly Pair[]; pairs?: boolean }) => (
  <dl class={pairs ? 'kv pairs' : 'kv'}>
    {of
      .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
      .map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

type EmptyProps = {
  /** `No packages yet`, with a drawing: where the list is the page. */
  title?: string
  action?: ComponentChildren
  children: ComponentChildren
}
/** In place of a list without entries: what it is for, and one button. */
export const Empty = ({ title, action, children }: EmptyProps) => (
  <div class="empty">
    {title && (
      <>
        <Drawing name="pier" />
        <h2>{title}</h2>
      </>
    )}
    <p>{children}</p>
    {action}
  </div>
)

export type Level = 'bad' | 'warn' | 'info'

/** A notice across the page, or inside a section. */
export const Note = (props: { level: Level; action?: ComponentChildren; children: ComponentChildren }) => (
  <div class={`note ${props.level}`}>
    <Icon name={props.level === 'info' ? 'info' : 'warning'} />
    <div class="grow">{props.children}</div>
    {props.action && <div class="acts">{props.action}</div>}
  </div>
)

/** A text in fixed-width letters with a button that copies it. `what`: read after "Copy". */
export const Copyable = ({ text, what }: { text: string; what: string }) => (
  <span class="copy">
    <code class="mono cut">{text}</code>
    <button type="button" class="btn" data-copy={text} aria-label={`Copy ${what}`} title={`Copy ${what}`}>
      <Icon name="copy" />
    </button>
  </span>
)

/** A command to run, with a button that copies it. */
export const Command = ({ text, what }: { text: string; what: string }) => (
  <div class="command cmd-row">
    <code>{text}</code>
    <button type="button" class="btn s" data-copy={text} aria-label={`Copy ${what}`}>
      <Icon name="copy" />
      Copy
    </button>
  </div>
)
