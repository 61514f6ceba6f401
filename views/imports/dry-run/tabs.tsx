import { PageTabs } from '../../components/table.tsx'
import type { Import } from '../imports/words.tsx'

export const DryRunTabs = ({ of: { id } }: { of: Pick<Import, 'id'> }) => (
  <PageTabs
    label="Dry run"
    of={[
      [`/admin/imports/${id}/dry-run`, 'Result'],
      [`/admin/imports/${id}/access`, 'Node access'],
    ]}
  />
)
