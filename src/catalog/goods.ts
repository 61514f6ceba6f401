// The fields that all goods of the catalogue have: packages, GPU offers and backup plans.
import { Type as t } from 'typebox'
import { described, line } from '../kernel/api/operation.ts'
import { optional, required, textLine } from '../kernel/fields/field-list.ts'

export const nameOfGoods = (placeholder: string) => required(textLine(line(60)), { label: 'Name', placeholder })
export const billingProductId = optional(textLine(line(100, 0)), {
  label: 'Billing product id',
  description: 'Free text, such as vendor:number.',
})
/** Shown with all goods, and changed by their PATCH. */
export const archived = described(t.Boolean(), 'It can no longer be ordered.')
