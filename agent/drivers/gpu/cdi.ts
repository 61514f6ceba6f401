/** The kind of the cards in the host's list of devices for containers (CDI). */
export const CDI_KIND = 'berth.node/gpu'

/** The name under which a container engine is asked for a card. */
export const cdiName = (uuid: string) => `${CDI_KIND}=${uuid}`
