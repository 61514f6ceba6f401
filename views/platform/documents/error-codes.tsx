// Every code of an error of the API and of a failed job, with what it means and what to do. The registry has them all.
import type { Code } from '../../../src/kernel/api/errors.ts'
import { jobFailures } from '../../../src/kernel/jobs/failures.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { type Column, Table } from '../../components/table.tsx'
import { Prose } from '../reference/tables.tsx'

type FailureRow = { code: string; words: string }

/** Of a failure whose step says what happened. */
const OWN_WORDS = 'The page of the job says what happened.'

export function ErrorCodes() {
  const { errors, failures } = useAt().registry
  const codes = Object.keys(errors).toSorted() as Code[]
  const errorColumns: Column<Code>[] = [
    {
      title: 'Error',
      kind: 'name',
      cell: (code) => (
        <>
          {errors[code].status} <code>{code}</code>
        </>
      ),
    },
    { title: 'When', cell: (code) => <Prose of={errors[code].when} /> },
    { title: 'What to do', cell: (code) => <Prose of={errors[code].remedy} /> },
  ]
  const rows = Object.entries({ ...failures, ...jobFailures })
    .map(
      ([code, words]): FailureRow => ({
        code,
        words: typeof words === 'string' ? words : OWN_WORDS,
      }),
    )
    .toSorted((a, b) => (a.code < b.code ? -1 : 1))
  return (
    <article class="prose">
      <h2>Codes of errors and failures</h2>
      <p>
        A call of the API that is refused answers with one of the codes of errors. A job that fails names one of the
        codes of failures on its page and in its event.
      </p>
      <h3 id="errors">Errors of calls</h3>
      <Table label="Errors of calls" rows={codes} columns={errorColumns} idOf={(code) => code} flow />
      <h3 id="failures">Failures of jobs</h3>
      <Table label="Failures of jobs" rows={rows} columns={failureColumns} idOf={(row) => `failure-${row.code}`} flow />
    </article>
  )
}

const failureColumns: readonly Column<FailureRow>[] = [
  { title: 'Failure', kind: 'name', cell: (row) => <code>{row.code}</code> },
  { title: 'What happened', cell: (row) => <Prose of={row.words} /> },
]
