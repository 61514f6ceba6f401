// The monthly check: a list of the billing system is pasted or chosen as a file, and what differs is shown in words.
// public/reconciliation.js fills the table, because the list is too long for an address.
import { COLUMNS } from '../../../src/billing/reconciliation/csv.ts'
import { reconcileUsage } from '../../../src/billing/reconciliation/reconcile.ts'
import { reportAccounts } from '../../../src/billing/usage/report.ts'
import { page, reading } from '../../../src/kernel/web/page.ts'
import { CallForm } from '../../components/action.tsx'
import { TextArea } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'

const EXAMPLE = 'billingServiceId,billingProductId,state\nwhmcs:17,whmcs:12,active'

const reconciliationPage = (area: '/admin' | '/reseller') =>
  page({
    path: `${area}/reports/reconciliation`,
    // Readers of the usage may compare it.
    reads: { accounts: reading(reportAccounts, () => ({ query: { limit: '1' } })) },
    title: 'Reconciliation',
    nav: 'reports',
    view: () => (
      <>
        <Head
          title="Reconciliation"
          trail={[['Usage', `${area}/reports`]]}
          sub={<span>Compare the list of your billing system with what is here. Nothing is changed.</span>}
        />
        <Section id="list" title="List of the billing system" first>
          <ListForm />
        </Section>
        <div id="differences" tabIndex={-1} hidden>
          <Section
            id="result"
            title="Differences"
            count={<span data-count="" role="status" />}
            actions={
              <a class="btn" href="#result" data-csv="" download="reconciliation.csv">
                CSV
              </a>
            }
            words={
              <>
                <span data-words="" />
                <span data-next="">
                  {' '}
                  What is not in the list was made by hand: give it the identifier of its service, or end it. A service
                  without a server or GPU instance lost its order: run it again in your billing system.
                </span>
              </>
            }
            flush
          >
            <Differences />
          </Section>
        </div>
      </>
    ),
  })

export const reconciliationPages = [reconciliationPage('/admin'), reconciliationPage('/reseller')]

const ListForm = () => (
  <CallForm op={reconcileUsage} hands={{ to: 'showDifferences', at: '#differences' }} class="stack">
    <div class="f">
      <label for="list-file">File</label>
      <span class="hint" id="list-file-h">
        A CSV export of up to 20,000 lines, in UTF-8 or UTF-16. They go into the field below.
      </span>
      <input
        id="list-file"
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        aria-describedby="list-file-h"
        data-into="csv"
        data-text=""
      />
    </div>
    <TextArea
      scope="list"
      name="csv"
      label="Lines"
      required
      mono
      rows={10}
      hint={
        <>
          A header that names the columns, out of {COLUMNS.join(', ')}, then a line for each service; commas, semicolons
          or tabs between them, and a first line <code>sep=;</code> where your program writes one. Each line needs a
          serverId, an instanceId or a billingServiceId; an empty cell is not compared. State is active, suspended or
          terminated. For example:
          <br />
          <code>{EXAMPLE.split('\n')[0]}</code>
          <br />
          <code>{EXAMPLE.split('\n')[1]}</code>
        </>
      }
    />
    <div class="bar">
      <button class="btn pri">Compare</button>
    </div>
  </CallForm>
)

/** One row, which the browser copies for each difference. */
const Differences = () => (
  <Table
    label="Differences"
    rows={[{}]}
    flow
    columns={[
      { title: 'Difference', kind: 'name', cell: () => '' },
      { title: 'Line', kind: 'a', num: true, cell: () => '' },
      { title: 'Service', kind: 'b', cell: () => '' },
    ]}
  />
)
