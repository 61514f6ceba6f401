// A page of its own: the whole log is read, which nobody who only looks at the log should wait for.
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { verifyAudit } from '../../../src/platform/audit/verify.ts'
import { Head } from '../../components/head.tsx'
import { Note, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../components/words.ts'

export const auditVerifyPage = page({
  path: '/admin/audit/verify',
  reads: { chain: verifyAudit },
  title: 'Verify the audit log',
  nav: 'audit',
  view: ({ chain: { lines, brokenAt, anchor }, at }) => (
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
          {brokenAt === null ? (
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
          <p class="muted">Every line of the log holds a hash of itself and of the line before it.</p>
        </div>
      </Section>
      <Section id="anchor" title="Newest line">
        <div class="in">
          <Anchor anchor={anchor} />
          <p class="muted">
            Each minute Berth signs the number and the hash of the newest line and keeps them outside the database.
            Lines removed from the end, or a log whose hashes were all recomputed, contradict them. Lines of the last
            minute are not covered, nor is tampering by somebody who can read the key file.
          </p>
        </div>
      </Section>
    </>
  ),
})

const Anchor = ({ anchor }: { anchor: Answers<{ chain: typeof verifyAudit }>['chain']['anchor'] }) => {
  if (!anchor)
    return (
      <Note level="warn">
        <strong>There is no anchor yet.</strong> Berth makes one within a minute after its start. Until then, lines
        removed from the end do not show.
      </Note>
    )
  const { line, at, state } = anchor
  if (state === 'matches')
    return (
      <Note level="info">
        <strong>The end of the log is complete.</strong> Line {line.toLocaleString('en')}, signed{' '}
        {at && <Time iso={at} />}, is unchanged.
      </Note>
    )
  return (
    <Note level="bad">
      {state === 'differs' ? (
        <>
          <strong>Lines are missing at the end, or were replaced.</strong>
          {` Line ${line.toLocaleString('en')} was there `}
          {at && <Time iso={at} />}, and is now missing. Compare with a backup, and find out who can write to the
          database file.
        </>
      ) : (
        <>
          <strong>The anchor is not signed with a key of the key file.</strong> Somebody changed it, or the key is gone:
          it says nothing about the end of the log.
        </>
      )}
    </Note>
  )
}
