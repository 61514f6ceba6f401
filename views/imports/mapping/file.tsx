// The mapping as a spreadsheet: what an upload would change is shown before anything is decided.
import { exportMapping, uploadMapping } from '../../../src/imports/mapping/spreadsheet.ts'
import { type Answers, page } from '../../../src/kernel/web/page.ts'
import { CallForm } from '../../components/action.tsx'
import { Icon } from '../../components/icon.tsx'
import { Download } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { type Import, importFiles, titleOf } from '../imports/words.tsx'
import { MappingFrame, mappingReads, useMayMap } from './frame.tsx'

type Data = Answers<typeof mappingReads>

export const importFilePage = page({
  path: '/admin/imports/{id}/file',
  reads: mappingReads,
  title: ({ import: of }) => `Spreadsheet of ${titleOf(of)}`,
  nav: 'imports',
  files: importFiles,
  view: (data) => <FilePage {...data} />,
})

function FilePage({ import: of }: Data) {
  const mayMap = useMayMap(of)
  return (
    <MappingFrame of={of}>
      <Section
        id="file"
        title="As a file"
        first
        words={
          'Download the mapping, edit it in a spreadsheet and upload it again. Nothing is decided before you have ' +
          'seen the difference.'
        }
        actions={<Download op={exportMapping} params={{ id: of.id }} label="Download CSV" query={{}} />}
      >
        {mayMap ? (
          <UploadForm of={of} />
        ) : (
          <p class="muted">It cannot be uploaded now: the import is at work, or has begun to migrate servers.</p>
        )}
      </Section>
      {mayMap && <Difference of={of} />}
    </MappingFrame>
  )
}

const UploadForm = ({ of }: { of: Import }) => (
  <CallForm
    op={uploadMapping}
    params={{ id: of.id }}
    class="stack"
    rehearses
    hands={{ to: 'showUpload', at: '#difference' }}
  >
    <div class="f">
      <label for="upload-file">File</label>
      <span class="hint" id="upload-file-h">
        A CSV file in UTF-8 with the columns part, id, choice and target. Edit choice and target; the choices are those
        of the pages, and an empty one means undecided.
      </span>
      <input
        id="upload-file"
        type="file"
        accept=".csv,text/csv,text/plain"
        aria-describedby="upload-file-h"
        data-into="csv"
        data-text=""
      />
    </div>
    <div class="f">
      <label for="upload-csv">Lines</label>
      <span class="hint" id="upload-csv-h">
        The file goes in here; you can also paste lines, with the header.
      </span>
      <textarea
        id="upload-csv"
        name="csv"
        rows={8}
        class="mono"
        spellcheck={false}
        required
        aria-describedby="upload-csv-h"
      />
    </div>
    <div class="bar">
      <button class="btn pri">See difference</button>
    </div>
  </CallForm>
)

/** Filled by public/imports/choices.js; each table has one row, which the browser copies. */
const Difference = ({ of }: { of: Import }) => (
  <div id="difference" tabIndex={-1} class="kept" hidden>
    <Section id="result" title="Difference" words={<span data-words="" role="status" />} flush>
      <div data-rows="changes">
        <Table
          label="Decisions that would change"
          rows={[{}]}
          columns={[
            { title: 'What', kind: 'name', width: 36, cell: () => '' },
            { title: 'Part', kind: 'a', width: 18, cell: () => '' },
            { title: 'Decision', kind: 'b', width: 30, cell: () => '' },
            { title: 'Line', kind: 'mid', width: 16, cell: () => '' },
          ]}
        />
      </div>
      <div data-rows="faults">
        <Table
          label="Lines that cannot be used"
          rows={[{}]}
          columns={[
            { title: 'Line', kind: 'name', width: 16, cell: () => '' },
            { title: 'Why it cannot be used', kind: 'wide', width: 84, cell: () => '' },
          ]}
        />
      </div>
    </Section>
    <div class="sec" data-apply="">
      <CallForm
        op={uploadMapping}
        params={{ id: of.id }}
        done="{changed} decisions are made"
        leadsTo={`/admin/imports/${of.id}`}
      >
        <textarea name="csv" hidden />
        <div class="bar">
          <button class="btn pri">
            <Icon name="check" />
            Decide so
          </button>
          <span class="muted">Lines that cannot be used are skipped.</span>
        </div>
      </CallForm>
    </div>
  </div>
)
