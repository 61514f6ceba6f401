// A page of its own: the whole log is read, which nobody who only looks at the log should wait for.
import { page } from '../../../src/kernel/web/page.ts'
import { verifyAudit } from '../../../src/platform/audit/verify.ts'
import { Head } from '../../components/head.tsx'
import { Note, Section } from '../../components/section.tsx'
import { count } from '../../components/words.ts'

export const auditVerifyPage = page({
  path: '/admin/audit/verify',
  reads: { chain: verifyAudit },
  title: 'Verify the audit log',
  nav: 'audit',
  view: ({ chain: { lines, ok, brokenAt }, at }) => (
    <>
      <Head
        title="Verify"
        trail={[['Audit log', '/admin/audit']]}
        actions={
          <a class="btn" href={at.path}>
            Verify again
          </a>
        }
      />
      <Section id="chain" title="Chain of hashes">
        <div class="in">
          {ok ? (
            <Note level="info">
              <strong>The chain is intact.</strong> {count(lines, 'line')} checked; each matches the line before it.
            </Note>
          ) : (
            <Note level="bad">
              <strong>
                The chain is broken at <code>{brokenAt}</code>.
              </strong>{' '}
              Something other than Berth changed this line, or removed or inserted one before it. Compare with a backup,
              and find out who can write to the database file.
            </Note>
          )}
          <p class="muted">
            Every line of the log holds a hash of itself and of the line before it. Lines removed from the end, or a log
            whose hashes were all recomputed, cannot be detected here: compare with a backup.
          </p>
        </div>
      </Section>
    </>
  ),
})
