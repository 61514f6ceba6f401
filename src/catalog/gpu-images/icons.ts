/** Pictures that an image can have at the order. */
export const gpuImageIcons = ['terminal', 'book', 'activity', 'image', 'globe', 'gpu', 'package'] as const
export type GpuImageIcon = (typeof gpuImageIcons)[number]
