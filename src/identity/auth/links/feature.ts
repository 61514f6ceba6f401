import { hour, second } from '../../../kernel/db/clock.ts'
import { write } from '../../../kernel/db/open.ts'
import { feature } from '../../../kernel/feature.ts'
import { forgetLinks } from './links.ts'
import { answerResets, inviteCustomer, requestReset, setPassword } from './password-links.ts'
import { createServerSignInLink, createSignInLink, useSignInLink } from './sign-in-links.ts'

export const linksFeature = feature({
  name: 'links',
  operations: [useSignInLink, requestReset, setPassword, inviteCustomer, createSignInLink, createServerSignInLink],
  schedule: [
    { everyMs: 2 * second, words: 'mailing links to new passwords', work: ({ db, app }) => answerResets(db, app) },
    {
      everyMs: hour,
      words: 'deleting old links',
      work: ({ db, app }) => write(db, (tx) => forgetLinks(tx, app.clock())),
    },
  ],
})
