<?php
// Paymenter 1: a service belongs to the server of its product; what the extension keeps are properties of the service.

final class Paymenter extends BillingSystem
{
    private const SERVICE = 'App\\Models\\Service';
    private const PRODUCT = 'App\\Models\\Product';
    private const SHOWN = ['berth_server' => 'Server in Berth', 'berth_hostname' => 'Hostname', 'berth_address' => 'Address'];

    public function name(): string
    {
        return 'paymenter';
    }

    public function tables(): array
    {
        return [
            'services' => ['id', 'user_id', 'product_id', 'plan_id', 'status'],
            'products' => ['id', 'name', 'server_id'],
            'plans' => ['id', 'priceable_id', 'priceable_type', 'type', 'billing_period', 'billing_unit'],
            'extensions' => ['id', 'name', 'type', 'extension'],
            'settings' => ['key', 'value', 'settingable_type', 'settingable_id'],
            'properties' => ['model_id', 'model_type', 'key', 'name', 'value'],
            'users' => ['id', 'email'],
        ];
    }

    public function installation(): string
    {
        $given = $this->db->rows(
            "SELECT value FROM settings WHERE `key` = 'installation' AND settingable_type LIKE '%Server' AND settingable_id = ?",
            [$this->target()['id']],
        )[0]['value'] ?? '';
        $kept = $this->db->find('settings', ['value'], ['key' => 'installation', 'settingable_type' => 'berth'])[0]['value'] ?? '';
        $words = 'Paymenter has no installation of Berth yet: open its server under Servers once.';
        return self::installationIn(preg_match('/^[a-z0-9]{8}$/D', (string) $given) ? $given : (string) $kept, $words);
    }

    public function services(): array
    {
        $field = $this->options['old-field']
            ?? throw new Refused('Say in which property the extension of before keeps the id: --old-field KEY.');
        $others = array_values(array_filter($this->entries(), fn ($one) => $one['extension'] !== 'Berth'));
        return $this->with($field, $this->oldServers($others));
    }

    public function switched(): array
    {
        return $this->with('berth_server', [(string) $this->target()['id']]);
    }

    public function changes(array $service, array $row): array
    {
        $products = $this->db->rows(
            "SELECT p.id, s.value AS package FROM products p
               LEFT JOIN settings s ON s.settingable_id = p.id AND s.settingable_type = ? AND s.`key` = 'package'
             WHERE p.server_id = ?",
            [self::PRODUCT, $this->target()['id']],
        );
        $product = $this->productFor($service['product'], $row, $products);
        $values = [
            'berth_server' => $row['serverId'], 'berth_hostname' => $row['hostname'], 'berth_address' => $row['ipv4'] ?? '',
        ];
        $changes = [];
        foreach ($values as $name => $value) {
            $key = ['model_type' => self::SERVICE, 'model_id' => $service['id'], 'key' => $name];
            array_push($changes, ...$this->put('properties', $key, ['value' => $value], ['name' => self::SHOWN[$name]]));
        }
        $after = ['product_id' => $product, 'plan_id' => $this->plan($service['row'], $product)];
        return [...$changes, ...self::update('services', ['id' => $service['id']], $service['row'], $after)];
    }

    /** The plan of the product with the same period; what the client pays is kept in the service. */
    private function plan(array $service, string $product): ?string
    {
        if ($service['plan_id'] === null) {
            return null;
        }
        $found = $this->db->rows(
            'SELECT n.id, n.billing_period AS period, n.billing_unit AS unit, o.billing_period, o.billing_unit
             FROM plans o JOIN plans n ON n.type = o.type AND n.priceable_type = ? AND n.priceable_id = ? WHERE o.id = ?',
            [self::PRODUCT, $product, $service['plan_id']],
        );
        $fit = array_values(array_filter(
            $found,
            fn ($one) => same($one['period'], $one['billing_period']) && same($one['unit'], $one['billing_unit']),
        ));
        return count($fit) === 1 ? (string) $fit[0]['id'] : throw new Refused(
            "the product $product has no plan with the same period, or several: make one in Paymenter",
        );
    }

    /** The services of products of these servers that have this property. */
    private function with(string $property, array $servers): array
    {
        $found = $this->db->rows(
            "SELECT s.id, s.user_id, s.product_id, s.plan_id, u.email, r.value AS old FROM services s
               JOIN products p ON p.id = s.product_id AND p.server_id IN (" . Database::marks($servers) . ")
               JOIN properties r ON r.model_type = ? AND r.model_id = s.id AND r.`key` = ?
               JOIN users u ON u.id = s.user_id WHERE s.status IN ('active', 'suspended')",
            [...$servers, self::SERVICE, $property],
        );
        return array_map(fn ($row) => [
            'id' => (string) $row['id'], 'client' => (string) $row['user_id'], 'email' => (string) $row['email'],
            'product' => (string) $row['product_id'], 'label' => "product {$row['product_id']}",
            'old' => trim((string) $row['old']), 'row' => $row,
        ], $found);
    }

    private function entries(): array
    {
        return $this->db->rows("SELECT id, name, extension FROM extensions WHERE type = 'server'");
    }

    private function target(): array
    {
        $ours = array_values(array_filter($this->entries(), fn ($one) => $one['extension'] === 'Berth'));
        return $this->only($ours, $this->options['server'], 'server of Berth', 'server');
    }
}
