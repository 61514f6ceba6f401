import type { Code } from '../../../src/kernel/api/errors.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { type Column, Table } from '../../components/table.tsx'
import type { FieldRow } from './fields.ts'

/** Names between backticks, as documents write them. */
export const Prose = ({ of: words }: { of: string }) => (
  <span>{words.split('`').map((part, i) => (i % 2 ? <code>{part}</code> : part))}</span>
)

/** The codes of refusals, in words. */
export function ErrorTable({ codes }: { codes: readonly Code[] }) {
  const { errors } = useAt().registry
  const columns: Column<Code>[] = [
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
  return <Table label="Errors" rows={codes} columns={columns} flow />
}

const bodyColumns: readonly Column<FieldRow>[] = [
  { title: 'Field', kind: 'name', cell: (f) => <code>{f.name}</code> },
  { title: 'Type', cell: (f) => f.type },
  { title: 'Required', cell: (f) => (f.required ? 'Yes' : 'No') },
  { title: 'Rule', cell: (f) => f.rule },
]
export const BodyTable = ({ rows }: { rows: readonly FieldRow[] }) => (
  <Table label="Fields of the body" rows={rows} columns={bodyColumns} flow />
)

type Parameter = readonly [
  name: string,
  schema: { description?: string; enum?: readonly string[]; type?: string; title?: string },
]
/** More choices than this stand in a table of their own, e.g. codes of refusals. */
const MOST_CHOICES = 20
const choices = (values: readonly string[]) => (values.length > MOST_CHOICES ? 'one word' : values.join(', '))

const queryColumns: readonly Column<Parameter>[] = [
  { title: 'Query parameter', kind: 'name', cell: ([name]) => <code>{name}</code> },
  {
    title: 'Value',
    cell: ([, schema]) =>
      schema.enum ? choices(schema.enum) : (schema.title ?? (schema.type === 'integer' ? 'whole number' : 'text')),
  },
  { title: 'What it does', cell: ([, schema]) => schema.description },
]
export const QueryTable = ({ parameters }: { parameters: readonly Parameter[] }) => (
  <Table label="Query parameters" rows={parameters} columns={queryColumns} flow />
)
