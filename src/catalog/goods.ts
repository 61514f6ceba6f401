// The fields that all goods of the catalogue have: packages, GPU offers and backup plans.
import { type Static, Type as t } from 'typebox'
import { invalid } from '../kernel/api/errors.ts'
import { described, line, namedSchema } from '../kernel/api/operation.ts'
import { choice, optional, required, textLine, usually } from '../kernel/fields/field-list.ts'

export const nameOfGoods = (placeholder: string) => required(textLine(line(60)), { label: 'Name', placeholder })
export const billingProductId = optional(textLine(line(100, 0)), {
  label: 'Billing product id',
  description: 'Free text, such as vendor:number.',
})
/** Shown with all goods, and changed by their PATCH. */
export const archived = described(t.Boolean(), 'It can no longer be ordered.')

// ---------------------------------------------------------------- prices
const pricePeriods = ['hour', 'month'] as const
const amount = t.String({ maxLength: 13, pattern: '^[0-9]{1,8}(\\.[0-9]{1,4})?$', title: 'an amount like 12.50' })
const currencyCode = t.String({ pattern: '^[A-Z]{3}$', title: 'a currency in three capital letters, like EUR' })
/** A price that is shown to those who order. Nothing is computed from it: bills are made by the billing system. */
export const priceFields = {
  price: optional(textLine(amount), {
    label: 'Price',
    placeholder: '12.50',
    hint: 'Shown at the order. Empty for none. Bills are made by your billing system.',
    description: 'Shown at the order; null: none. Nothing is computed from it.',
  }),
  currency: optional(textLine(currencyCode), { label: 'Currency', placeholder: 'EUR', isBeside: true }),
  pricePer: usually('month', choice(t.Enum([...pricePeriods]), { hour: 'Per hour', month: 'Per month' }), {
    label: 'Price is for',
    description: 'The time that the price is for.',
  }),
}
type Priced = { price: string | null; currency: string | null; pricePer: (typeof pricePeriods)[number] }

/** Throws `validation_failed` where a price has no currency, or a currency has no price. */
export function mustBeWholePrice({ price, currency }: Partial<Priced>) {
  if (price && !currency) throw invalid({ field: 'currency', message: 'is needed beside the price.' })
  if (currency && !price) throw invalid({ field: 'price', message: 'is needed beside the currency.' })
}

export const priceResponse = namedSchema('Price', {
  amount: described(t.String(), 'A decimal number.'),
  currency: described(t.String(), 'As ISO 4217 names it.'),
  per: t.Enum([...pricePeriods]),
})
/** Null: no price is shown. */
export const priceOf = ({ price, currency, pricePer }: Priced): Static<typeof priceResponse> | null =>
  price === null || currency === null ? null : { amount: price, currency, per: pricePer }
