import { wholeSetting } from '../../kernel/setting.ts'

export const awayDelay = wholeSetting({
  name: 'outages.delay_seconds',
  title: 'Delay before staff are told that a node is away',
  words: 'Nobody is told about a node that is back sooner.',
  weakens: 'never',
  default: 60,
  minimum: 15,
  maximum: 3600,
  unit: 'seconds',
})
export const mailPause = wholeSetting({
  name: 'outages.mail_pause_minutes',
  title: 'Pause between two mails about one node',
  words: 'A node that goes away again sooner is in the panel and in events at once, and in a mail only then.',
  weakens: 'never',
  default: 10,
  minimum: 1,
  maximum: 240,
  unit: 'minutes',
})
