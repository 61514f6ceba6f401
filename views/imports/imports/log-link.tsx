import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import type { Import } from './words.tsx'

/** The entry in the menu of an import that leads to its log. */
export const Log = ({ of: { id } }: { of: Pick<Import, 'id'> }) => (
  <Link to="/admin/imports/{id}/log" params={{ id }}>
    <Icon name="audit" />
    Log
  </Link>
)
