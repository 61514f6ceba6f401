import { changeScript, getScript } from '../../../src/compute/scripts/scripts.ts'
import { page } from '../../../src/kernel/web/page.ts'
import { CallForm } from '../../components/action.tsx'
import { Head } from '../../components/head.tsx'
import { Section } from '../../components/section.tsx'
import { RemoveScript, ScriptFields } from './list.tsx'

export const scriptPage = page({
  path: '/scripts/{id}',
  reads: { script: getScript },
  title: ({ script }) => script.name,
  nav: 'scripts',
  view: ({ script: s }) => (
    <>
      <Head title={s.name} trail={[['Startup scripts', '/scripts']]} actions={<RemoveScript of={s} />} />
      <Section id="script" title="Script" quiet first>
        <CallForm op={changeScript} params={{ id: s.id }} class="stack" done="Saved">
          <ScriptFields scope="script" name={s.name} content={s.content} />
          <p class="muted">
            A change applies to later installations. Servers that have run the script stay as they are.
          </p>
          <div class="bar">
            <button class="btn pri">Save</button>
          </div>
        </CallForm>
      </Section>
    </>
  ),
})
