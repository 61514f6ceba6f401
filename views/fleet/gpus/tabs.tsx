import { PageTabs } from '../../components/table.tsx'

/** The pages about GPUs that are sold. */
export const GpuTabs = () => (
  <PageTabs
    label="GPUs"
    of={[
      ['/admin/gpu', 'Hosts and cards'],
      ['/admin/gpu-offers', 'Offers'],
      ['/admin/gpu-images', 'Images'],
    ]}
  />
)
