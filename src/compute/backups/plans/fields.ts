// The fields of a backup plan, in the order of its form.
import { Type as t } from 'typebox'
import { billingProductId, nameOfGoods } from '../../../catalog/goods.ts'
import { choice, inGroup, required, textLine, usually, wholeNumber } from '../../../kernel/fields/field-list.ts'
import { frequencies, frequencyWords } from './times.ts'

/** When its backups are made. */
export const planTimes = {
  every: required(choice(t.Enum([...frequencies]), frequencyWords), {
    label: 'How often',
    initial: 'day',
    group: 'Times',
  }),
  startsAt: required(
    textLine(t.String({ maxLength: 5, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', title: 'a time such as 02:30' })),
    {
      label: 'From',
      type: 'time',
      initial: '01:00',
      isBeside: true,
      description: 'A local time of the time zone, as 02:30.',
    },
  ),
  windowMinutes: required(wholeNumber(0, 1380), {
    label: 'Spread over',
    unit: 'minutes',
    initial: 240,
    isBeside: true,
    description: 'Servers begin spread over so many minutes, each always at its own moment.',
  }),
  timeZone: required(textLine(t.String({ minLength: 1, maxLength: 64 })), {
    label: 'Time zone',
    initial: 'UTC',
    hint: 'For example Europe/Berlin. Each server begins at a moment of its own within this window.',
    bodyDescription: 'A name such as Europe/Berlin.',
  }),
}
/** How many of them are kept. */
export const planKeeps = {
  keepLast: required(wholeNumber(1, 1000), {
    label: 'Keep the last',
    group: 'Kept',
    initial: 3,
    description: 'So many of the newest backups of a server are kept.',
  }),
  keepDaily: usually(0, wholeNumber(0, 1000), {
    label: 'Daily',
    initial: 7,
    isBeside: true,
    description: 'Beside them the newest of each of so many days that have one.',
  }),
  keepWeekly: usually(0, wholeNumber(0, 500), {
    label: 'Weekly',
    initial: 4,
    description: 'The same of weeks, from Monday on.',
  }),
  keepMonthly: usually(0, wholeNumber(0, 120), {
    label: 'Monthly',
    initial: 6,
    isBeside: true,
    description: 'The same of months.',
  }),
}
/** Responses have the target with its name. */
export const planFields = {
  name: inGroup('Plan', nameOfGoods('Every night')),
  targetId: required(textLine(t.String({ minLength: 1, maxLength: 60 })), { label: 'Backup target' }),
  ...planTimes,
  ...planKeeps,
  billingProductId: inGroup('Billing', billingProductId),
}
