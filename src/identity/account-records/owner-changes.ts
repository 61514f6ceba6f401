// A new owner, and a new address of an owner, give access to everything: all owners are told.
import type { AppContext, Call } from '../../kernel/api/operation.ts'
import type { MailContext } from '../../kernel/mail/mail.ts'
import { mailServer } from '../../kernel/mail/mail-server.ts'
import { tellOwners } from '../../kernel/mail/owner-notice.ts'

type Changing = MailContext & Pick<AppContext, 'owners'> & Pick<Call, 'tx' | 'actor' | 'client'>

/** Call it before the change, so that those who are owners until then are told too. `what`: a sentence. */
export const tellOfOwner = (call: Changing, what: string) =>
  tellOwners(call.tx, call, mailServer(call.tx, call.secrets), { actor: call.actor, from: call.client.from, what })
