// Form fields: a label, a hint, room for what is wrong with it. `as` is how public/panel/calls.js puts it into the body.

import { LEAST_CHARACTERS } from '../../src/identity/auth/passwords/hash.ts'
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'

type As = 'number' | 'words' | 'null' | 'utc'
export type Option = { value: string; label: string; hint?: Content; why?: string | undefined }

type Field = {
  label: string
  hint?: Content
  value?: string | number | null | undefined
  required?: boolean
  /** `number`: sent as one. `utc`: a local time of the browser's field, meant in UTC. `words`: a list, split at spaces and commas. `null`: sent as null when empty. */
  as?: As
  nullable?: boolean
  type?: string
  autocomplete?: string
  /** Which keys a phone shows. */
  inputmode?: string
  min?: number
  max?: number
  unit?: string
  placeholder?: string
  mono?: boolean
  focus?: boolean
}

const slug = (text: string) => text.replace(/[^A-Za-z0-9]+/g, '-')
const hintId = (id: string, hint: Content) => hint && html` aria-describedby="${id}-h"`
const hintLine = (id: string, hint: Content) => hint && html`<span class="hint" id="${id}-h">${hint}</span>`
const optional = (required: boolean | undefined) => !required && html` <span class="opt">optional</span>`

/** `scope` makes the id unique on the page. */
export function field(scope: string, name: string, f: Field): Html {
  const id = slug(`${scope}-${name}`)
  const as = f.nullable ? (f.as === 'number' || f.as === 'utc' ? `${f.as}-null` : 'null') : f.as
  return html`<div class="f"><label for="${id}">${f.label}${optional(f.required)}</label>${hintLine(id, f.hint)}<span class="in-unit"><input id="${id}" name="${name}" type="${f.type ?? 'text'}" value="${f.value ?? ''}"${hintId(id, f.hint)}${f.required && html` required`}${as && html` data-as="${as}"`}${
    f.autocomplete && html` autocomplete="${f.autocomplete}"`
  }${!f.autocomplete && html` autocomplete="off"`}${(f.inputmode || f.as === 'number') && html` inputmode="${f.inputmode ?? 'numeric'}"`}${f.min !== undefined && html` min="${f.min}"`}${f.max !== undefined && html` max="${f.max}"`}${f.placeholder && html` placeholder="${f.placeholder}"`}${f.mono && html` class="mono" spellcheck="false" autocapitalize="off"`}${f.focus && html` autofocus`}>${f.unit && html`<span class="unit">${f.unit}</span>`}</span></div>`
}

/** A password that is being chosen. */
export const newPassword = (scope: string, more: Partial<Pick<Field, 'label' | 'focus'>> = {}): Html =>
  field(scope, 'password', {
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    required: true,
    hint: `At least ${LEAST_CHARACTERS} characters. Three or four random words work well.`,
    ...more,
  })

/** For password managers: whose password it is. Not shown and not sent. */
export const username = (email = ''): Html =>
  html`<input type="email" autocomplete="username" value="${email}" readonly hidden>`

/** `fingerprint`: of the SSH key in it, shown while it is typed where browsers compute it (HTTPS). */
export function area(scope: string, name: string, f: Field & { rows?: number; fingerprint?: true }): Html {
  const id = slug(`${scope}-${name}`)
  return html`<div class="f"><label for="${id}">${f.label}${optional(f.required)}</label>${hintLine(id, f.hint)}<textarea id="${id}" name="${name}" rows="${f.rows ?? 4}"${hintId(id, f.hint)}${f.required && html` required`}${f.mono && html` class="mono" spellcheck="false"`}${f.fingerprint && html` data-fingerprint`}>${f.value ?? ''}</textarea>${f.fingerprint && html`<output class="hint mono" for="${id}"></output>`}</div>`
}

export function select(
  scope: string,
  name: string,
  f: Pick<Field, 'label' | 'hint' | 'value' | 'nullable'> & { options: readonly Option[] },
): Html {
  const id = slug(`${scope}-${name}`)
  return html`<div class="f"><label for="${id}">${f.label}</label>${hintLine(id, f.hint)}<select id="${id}" name="${name}"${hintId(id, f.hint)}${f.nullable && html` data-as="null"`}>${f.options.map(
    (o) =>
      html`<option value="${o.value}"${o.value === f.value && html` selected`}${o.why && html` disabled`}>${o.label}${o.why && ` (${o.why})`}</option>`,
  )}</select></div>`
}

export function check(scope: string, name: string, f: { label: string; hint?: Content; checked?: boolean }): Html {
  const id = slug(`${scope}-${name}`)
  return html`<div class="f tick"><input type="checkbox" id="${id}" name="${name}" data-as="boolean"${hintId(id, f.hint)}${f.checked && html` checked`}><label for="${id}">${f.label}</label>${hintLine(id, f.hint)}</div>`
}

/** One of several, each a card; what cannot be chosen says why. `quiet`: a heading above says the label already. */
export function radios(
  scope: string,
  name: string,
  f: {
    label: string
    hint?: Content
    value: string | undefined
    options: readonly Option[]
    empty?: Content
    quiet?: true
  },
): Html {
  const id = slug(`${scope}-${name}`)
  // By value, not by place: in a list that is redrawn, what is chosen must stay with what it was chosen for.
  const of = (o: Option) => `${id}-${slug(o.value)}`
  return html`<fieldset class="f" id="${id}"${hintId(id, f.hint)}><legend${f.quiet && html` class="sr"`}>${f.label}</legend>${hintLine(id, f.hint)}<div class="picks">${f.options.map(
    (o) =>
      html`<div class="pick${o.why && ' no'}"><input type="radio" id="${of(o)}" name="${name}" value="${o.value}"${o.value === f.value && !o.why && html` checked`}${o.why && html` disabled`}${(o.hint || o.why) && html` aria-describedby="${of(o)}-h"`}><label for="${of(o)}">${o.label}</label>${(o.hint || o.why) && html`<span class="hint" id="${of(o)}-h">${o.hint}${o.why && html` <strong>${o.why}</strong>`}</span>`}</div>`,
  )}</div>${!f.options.length && f.empty}</fieldset>`
}

/** Any of several, sent as a list. */
export function checks(
  scope: string,
  name: string,
  f: { label: string; hint?: Content; values: readonly string[]; options: readonly Option[]; empty?: Content },
): Html {
  const id = slug(`${scope}-${name}`)
  return html`<fieldset class="f" id="${id}" data-list="${name}"${hintId(id, f.hint)}><legend>${f.label}</legend>${hintLine(id, f.hint)}<div class="ticks">${f.options.map(
    (o, i) =>
      html`<div class="tick"><input type="checkbox" id="${id}-${i}" name="${name}" value="${o.value}" data-as="list"${f.values.includes(o.value) && html` checked`}><label for="${id}-${i}">${o.label}</label>${o.hint && html`<span class="hint">${o.hint}</span>`}</div>`,
  )}</div>${!f.options.length && f.empty}</fieldset>`
}
