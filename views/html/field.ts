import { h } from 'preact'
import type { Content, Html } from '../../src/kernel/web/html.ts'
import { Checks, Radios } from '../components/choices.tsx'
import {
  Check,
  Field,
  type FieldProps,
  NewPassword,
  type Option,
  Select,
  TextArea,
  Username,
} from '../components/field.tsx'

export type { Option }

type Given = Omit<FieldProps, 'scope' | 'name'>
type Group = { label: string; hint?: Content; options: readonly Option[]; empty?: Content }

export const field = (scope: string, name: string, f: Given): Html => h(Field, { scope, name, ...f })
export const newPassword = (scope: string, more: { label?: string; focus?: boolean } = {}): Html =>
  h(NewPassword, { scope, ...more })
export const username = (email = ''): Html => h(Username, { email })
export const area = (scope: string, name: string, f: Given & { rows?: number; fingerprint?: true }): Html =>
  h(TextArea, { scope, name, ...f })
export const select = (
  scope: string,
  name: string,
  f: Pick<Given, 'label' | 'hint' | 'value' | 'nullable'> & { options: readonly Option[] },
): Html => h(Select, { scope, name, ...f })
export const check = (scope: string, name: string, f: { label: string; hint?: Content; checked?: boolean }): Html =>
  h(Check, { scope, name, ...f })
export const radios = (scope: string, name: string, f: Group & { value: string | undefined; quiet?: true }): Html =>
  h(Radios, { scope, name, ...f })
export const checks = (scope: string, name: string, f: Group & { values: readonly string[] }): Html =>
  h(Checks, { scope, name, ...f })
