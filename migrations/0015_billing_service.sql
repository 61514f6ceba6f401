-- The billing system's own identifier of a server: free text, set by the order or later.
ALTER TABLE servers ADD COLUMN billing_service_id TEXT;
CREATE INDEX servers_billing_service ON servers (billing_service_id) WHERE billing_service_id IS NOT NULL;
