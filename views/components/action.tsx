// A button is a call of the API, drawn from its operation: method, path and permission are said there and nowhere else.
// public/panel/calls/calls.js sends the form as JSON with the CSRF token and an Idempotency-Key, shows refusals, and
// does what `done`, `leadsTo` and `secret` say.
import type { ComponentChildren } from 'preact'
import type { AssetName } from '../../public/assets.ts'
import { API_ROOT } from '../../src/kernel/api/http.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { useAt, usePageContext } from '../../src/kernel/web/page-context.ts'
import { Field } from './field.tsx'
import { Icon, type IconName } from './icon.tsx'

export type Params = Readonly<Record<string, string>>

export type Calling = {
  /** Fields that are not the person's to choose. */
  body?: Record<string, unknown>
  /** Shown when the call has succeeded. `{field}` is a field of the response. */
  done?: string
  /** The page to go to then; without it the page is refreshed in place. */
  leadsTo?: string
  /** The field of the response with an address of another site, to which the browser goes then. */
  leavesBy?: string
  /**
   * A field of the response that is shown this one time, with what it is: in a dialog, or in a part of the page that is
   * named.
   */
  secret?: { field: string; title: string; words: string; into?: string }
  /** The page that takes the form where no script sends it; without it the browser is told that it needs one. */
  takenBy?: `/${string}`
  /** A function that gets the response, and the part of the page that it is about. */
  hands?: { to: keyof typeof handlers; at: string }
}
/** The files of functions that get a response. */
const handlers = {
  askPasskey: 'security.js',
  makePasskey: 'security.js',
  showApp: 'security.js',
  showCodes: 'security.js',
  showApplied: 'imports.mjs',
  showDifferences: 'reconciliation.js',
  showPreview: 'imports.mjs',
  showUpload: 'imports.mjs',
} as const satisfies Record<string, AssetName>

/** The operation's path under the API, with its parameters filled in. */
export const pathOf = (op: Operation, params: Params) =>
  API_ROOT + op.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** An id for an element that belongs to one call, unique on a page. */
export const idOf = (op: Operation, params: Params, body: Record<string, unknown> = {}) =>
  `${op.id}-${[...Object.values(params), ...Object.values(body)].join('-')}`
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/-$/, '')

type CallFormProps = Calling & {
  op: Operation
  params?: Params
  class?: string
  /** For fields that stand outside of it. */
  id?: string
  /** Its choices go into the page's address, and the page is drawn again with them. */
  redraws?: boolean
  /** Sent when the page has loaded. */
  atOnce?: boolean
  /** Sent as soon as something in it is chosen; of choices made while one is sent, the last counts. */
  whenChosen?: boolean
  /** Every check is made, and nothing is done: the response tells what would happen. */
  rehearses?: boolean
  children?: ComponentChildren
}

/**
 * A form that calls an operation. It says `post` to browsers, so that without scripts no field ends up in an address.
 */
export function CallForm({ op, params = {}, body = {}, children, ...how }: CallFormProps) {
  const { asset } = usePageContext()
  const { secret, hands } = how
  // The renderer looks at every attribute, also at one that is undefined: lists have hundreds of these forms.
  const path = pathOf(op, params) + (how.rehearses ? '?dryRun=true' : '')
  const attributes: Record<string, string> = { [`hx-${op.method.toLowerCase()}`]: path }
  if (how.whenChosen) attributes['hx-trigger'] = 'change, submit'
  if (how.class) attributes['class'] = how.class
  if (how.id) attributes['id'] = how.id
  if (how.done) attributes['data-done'] = how.done
  if (how.leadsTo) attributes['data-then'] = how.leadsTo
  if (how.takenBy) attributes['action'] = how.takenBy
  if (how.leavesBy) attributes['data-leaves'] = how.leavesBy
  if (how.atOnce) attributes['hx-trigger'] = 'load, submit'
  if (how.redraws) attributes['data-redraw'] = ''
  if (secret) {
    attributes['data-secret'] = secret.field
    attributes['data-secret-title'] = secret.title
    attributes['data-secret-words'] = secret.words
    if (secret.into) attributes['data-secret-into'] = secret.into
  }
  if (hands) {
    attributes['data-with'] = asset(handlers[hands.to])
    attributes['data-to'] = hands.to
    attributes['data-at'] = hands.at
  }
  return (
    <form
      method="post"
      novalidate
      hx-swap="none"
      hx-sync={how.whenChosen ? 'queue last' : 'drop'}
      data-call={op.id}
      {...attributes}
    >
      {Object.entries(body).map(([field, value]) => (
        <input type="hidden" name={field} value={JSON.stringify(value)} data-as="json" />
      ))}
      {children}
    </form>
  )
}

export type ActionProps = Calling & {
  op: Operation
  params?: Params
  label: string
  icon?: IconName
  tone?: 'pri' | 'bad' | undefined
  /** An entry of a menu instead of a button. */
  inMenu?: boolean
  small?: boolean
  /** Why it cannot be done now; the button stays and says so. */
  disabledReason?: string | false | undefined
  /** Form fields of the dialog. */
  fields?: ComponentChildren
  title?: string
  /** On the dialog's button, where it is not the label. */
  submit?: string
  /**
   * Asks first, listing what will happen. `type`: the name to type, for what destroys data. `keep`: on the button that
   * changes nothing.
   */
  confirm?: { consequences: readonly ComponentChildren[]; type?: string; keep?: string }
  wide?: boolean
  /** Tells its dialog from another of the same operation and thing on the page. */
  part?: string
  /** Read after the label, where the label alone does not say of what. */
  of?: string
  /** The label is read and shown on hover only. */
  iconOnly?: boolean
}

/**
 * Draws nothing for a reader who may not call it, a plain form for what needs no question, else a button and its
 * dialog.
 */
export function Action(props: ActionProps) {
  const at = useAt()
  const { op, params = {}, disabledReason, fields, confirm, iconOnly, label } = props
  if (!at.may(op)) return null
  const look: Record<string, string> = {}
  const classes = lookOf(props)
  if (classes) look['class'] = classes
  if (iconOnly) look['title'] = label
  if (disabledReason)
    return (
      <button type="button" {...look} aria-disabled="true" title={disabledReason} data-why={disabledReason}>
        {Face(props)}
      </button>
    )
  if (!fields && !confirm)
    return CallForm({ ...props, class: 'call', children: <button {...look}>{Face(props)}</button> })
  const id = idOf(op, { ...params, ...(props.part && { part: props.part }) }, props.body)
  return (
    <>
      <button type="button" {...look} data-dialog={id} {...commanding(id, 'show-modal')} aria-haspopup="dialog">
        {Face(props)}
      </button>
      <ActionDialog {...props} id={id} />
    </>
  )
}

const lookOf = ({ inMenu, tone, small, iconOnly }: ActionProps) =>
  inMenu
    ? tone === 'bad'
      ? 'bad'
      : undefined
    : ['btn', tone, small && 's', iconOnly && 'ico'].filter(Boolean).join(' ')

/** The browser opens and closes the dialog by itself while the script is not there. */
const commanding = (dialog: string, command: 'show-modal' | 'close') => ({ command, commandfor: dialog })

/** Called as a function: a component of its own costs more than what it draws. */
const Face = ({ icon, iconOnly, label, of }: ActionProps) => (
  <>
    {icon && <Icon name={icon} />}
    <span class={iconOnly ? 'sr' : undefined}>{label}</span>
    {of && <span class="sr"> {of}</span>}
  </>
)

/** Lists the consequences, takes what is to be filled in, and for what destroys data waits until its name was typed. */
function ActionDialog(props: ActionProps & { id: string }) {
  const { id, op, label, confirm, fields, tone } = props
  const typed = confirm?.type
  return (
    <dialog id={id} aria-labelledby={`${id}-t`} class={props.wide ? 'wide' : undefined}>
      <CallForm {...props} class={undefined}>
        <h2 id={`${id}-t`}>{props.title ?? (confirm ? `${label}?` : label)}</h2>
        {confirm && (
          <ul class="will">
            {confirm.consequences.filter(Boolean).map((consequence) => (
              <li>{consequence}</li>
            ))}
          </ul>
        )}
        {confirm && op.requiresRecentAuth === true && (
          <p class="muted">If you signed in more than 10 minutes ago, you confirm first that it is you.</p>
        )}
        {fields}
        {typed !== undefined && <TypeToConfirm id={`${id}-n`} text={typed} />}
        <div class="bar end">
          <button type="button" class="btn" data-close="" {...commanding(id, 'close')}>
            {confirm?.keep ?? 'Cancel'}
          </button>
          <button
            class={`btn pri${tone === 'bad' ? ' bad' : ''}`}
            disabled={typed !== undefined}
            data-gated={typed !== undefined ? '' : undefined}
          >
            {props.submit ?? label}
          </button>
        </div>
      </CallForm>
    </dialog>
  )
}

/** The field of what must not happen by mistake: the button with `data-gated` waits for the text. */
export const TypeToConfirm = ({ id, text }: { id: string; text: string }) => (
  <div class="f">
    <label for={id}>
      Type <code>{text}</code> to confirm
    </label>
    <input id={id} autocomplete="off" autocapitalize="off" spellcheck={false} data-must-be={text} />
  </div>
)

/** Actions behind a button with three dots. `label`: read aloud, e.g. "Actions for web01". */
export const Menu = ({ label, small, children }: { label: string; small?: boolean; children: ComponentChildren }) => (
  <details class="menu">
    <summary class={`btn ico${small ? ' bare s' : ''}`} aria-label={label} role="button">
      <Icon name="ellipsis" />
    </summary>
    <div class="pop">{children}</div>
  </details>
)

/** The button “Change”, whose dialog has the fields of what is there now, and saves them. */
export const Edit = (props: Omit<ActionProps, 'label' | 'submit'> & { label?: string }) => (
  <Action label="Change" submit="Save" done="Saved" {...props} />
)

type Thing = { id: string; name: string }
type EditProps = { op: Operation; of: Thing; fields: ComponentChildren } & Pick<
  ActionProps,
  'label' | 'icon' | 'inMenu' | 'wide' | 'done' | 'disabledReason'
>
/** The entry in the menu of a thing, or the button on its page, behind which its fields are. */
export const EditEntry = ({ op, of: { id, name }, label, inMenu = true, ...more }: EditProps) => (
  <Edit op={op} params={{ id }} label={label} of={name} inMenu={inMenu} title={`${label} ${name}`} {...more} />
)

/** The entry “Rename” in the menu of a thing that its owner named. */
export const RenameEntry = ({ op, of }: { op: Operation; of: Thing }) => (
  <EditEntry
    op={op}
    of={of}
    label="Rename"
    icon="pencil"
    fields={<Field scope={`name-${of.id}`} name="name" label="Name" required value={of.name} />}
  />
)

type RemoveProps = { op: Operation; of: Thing; keep: string; consequences: readonly ComponentChildren[] } & Pick<
  ActionProps,
  'disabledReason' | 'inMenu' | 'leadsTo' | 'done'
>
/** The entry “Remove” in the menu of a thing, or the button on its page. */
export const RemoveEntry = ({ op, of: { id, name }, keep, consequences, inMenu = true, ...more }: RemoveProps) => (
  <Action
    op={op}
    params={{ id }}
    label="Remove"
    icon="trash"
    of={name}
    inMenu={inMenu}
    tone="bad"
    title={`Remove ${name}?`}
    done={`${name} is removed`}
    confirm={{ keep, consequences }}
    {...more}
  />
)
