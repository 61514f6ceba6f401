// A page of its own: the whole log is gone through, which nobody who only reads it should wait for.

import { html } from '../../../src/kernel/web/html.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { verifyAudit } from '../../../src/platform/audit/verify.ts'
import { count } from '../../components/words.ts'
import { card, inside, notice } from '../../html/card.ts'
import { head } from '../../html/head.ts'

export const auditVerifyPage = page({
  path: '/admin/audit/verify',
  reads: { chain: verifyAudit },
  title: 'Verify the audit log',
  nav: 'audit',
  view: ({ chain: { lines, ok, brokenAt }, at }) => html`
    ${head({ title: 'Verify', trail: [['Audit log', '/admin/audit']], actions: html`<a class="btn" href="${at.path}">Verify again</a>` })}
    ${card(
      { id: 'chain', title: 'Chain of hashes' },
      html`
      ${
        ok
          ? notice(
              'info',
              html`<strong>The chain holds.</strong> ${count(lines, 'line')} checked; each matches the line before it.`,
            )
          : notice(
              'bad',
              html`<strong>The chain is broken at <code>${brokenAt}</code>.</strong> This line was changed, or one before it was removed or put in, by something other than Berth. Compare with a backup, and find out who can write to the database file.`,
            )
      }
      ${inside(html`<p class="muted">Every line of the log holds a hash of itself and of the line before it. Lines cut off at the end, or a log whose hashes were all made again, are not noticed here: compare with a backup.</p>`)}`,
    )}`,
})
