<?php
// WHMCS 8: a service belongs to the module of its product, and the module keeps the server in a field of the service.

final class Whmcs extends BillingSystem
{
    private const FIELD = 'Berth server';
    /** The modules of the panels of before. */
    private const MODULES = ['virtualizor' => 'virtualizor', 'solusvm2' => 'solusiovps'];

    public function name(): string
    {
        return 'whmcs';
    }

    public function tables(): array
    {
        return [
            'tblhosting' => ['id', 'userid', 'packageid', 'server', 'domain', 'domainstatus', 'dedicatedip'],
            'tblproducts' => ['id', 'name', 'servertype', 'configoption1'],
            'tblservers' => ['id', 'name', 'type', 'username'],
            'tblclients' => ['id', 'email'],
            'tblcustomfields' => [
                'id', 'type', 'relid', 'fieldname', 'fieldtype', 'description', 'fieldoptions', 'regexpr', 'adminonly',
                'required', 'showorder', 'showinvoice', 'sortorder',
            ],
            'tblcustomfieldsvalues' => ['fieldid', 'relid', 'value'],
        ];
    }

    public function installation(): string
    {
        $words = 'The entry of Berth under Servers has no installation yet: press Test Connection there first.';
        return self::installationIn((string) $this->target()['username'], $words);
    }

    public function services(): array
    {
        $module = self::MODULES[$this->options['kind']] ?? '';
        $servers = $this->oldServers($this->db->find('tblservers', ['id', 'name'], ['type' => $module]));
        $field = $this->options['old-field'] ?? ($module === 'virtualizor' ? 'vpsid' : null);
        if ($field === null && !$this->db->has('solusiovps_servers')) {
            throw new Refused('There is no table solusiovps_servers. Say which custom field has the id: --old-field NAME.');
        }
        // The name of a custom field may have a label behind a bar.
        $join = $field === null
            ? 'JOIN solusiovps_servers v ON v.service_id = h.id'
            : "JOIN tblcustomfields f ON f.type = 'product' AND f.relid = h.packageid
                 AND (f.fieldname = ? OR f.fieldname LIKE ?)
               JOIN tblcustomfieldsvalues v ON v.fieldid = f.id AND v.relid = h.id";
        $column = $field === null ? 'v.server_id' : 'v.value';
        $found = $this->db->rows(
            "SELECT h.id, h.userid, h.packageid, h.domain, h.server, h.dedicatedip, c.email, $column AS old FROM tblhosting h
               JOIN tblclients c ON c.id = h.userid $join
             WHERE h.server IN (" . Database::marks($servers) . ") AND h.domainstatus IN ('Active', 'Suspended')",
            [...($field === null ? [] : [$field, "$field|%"]), ...$servers],
        );
        return array_map(fn ($row) => self::service($row), $found);
    }

    public function switched(): array
    {
        $found = $this->db->rows(
            "SELECT h.id, h.userid, h.packageid, h.domain, h.server, h.dedicatedip, c.email, v.value AS old FROM tblhosting h
               JOIN tblclients c ON c.id = h.userid
               JOIN tblcustomfields f ON f.type = 'product' AND f.relid = h.packageid AND f.fieldname = ?
               JOIN tblcustomfieldsvalues v ON v.fieldid = f.id AND v.relid = h.id
             WHERE h.server = ? AND v.value <> ''",
            [self::FIELD, $this->target()['id']],
        );
        return array_map(fn ($row) => self::service($row), $found);
    }

    public function changes(array $service, array $row): array
    {
        $products = $this->db->rows("SELECT id, configoption1 AS package FROM tblproducts WHERE servertype = 'berth'");
        $product = $this->productFor($service['product'], $row, $products);
        $key = ['type' => 'product', 'relid' => $product, 'fieldname' => self::FIELD];
        $field = $this->db->find('tblcustomfields', ['id'], $key)[0]['id'] ?? null;
        $valueKey = [
            'fieldid' => $field ?? ['table' => 'tblcustomfields', 'column' => 'id', 'where' => $key],
            'relid' => $service['id'],
        ];
        $value = ['value' => $row['serverId']];
        $after = ['packageid' => $product, 'server' => $this->target()['id']];
        if ($row['ipv4'] !== null) {
            $after['dedicatedip'] = $row['ipv4'];
        }
        return [
            ...($field === null ? self::insert('tblcustomfields', $key, [
                'fieldtype' => 'text', 'description' => '', 'fieldoptions' => '', 'regexpr' => '', 'adminonly' => 'on',
                'required' => '', 'showorder' => '', 'showinvoice' => '', 'sortorder' => 0,
            ]) : []),
            ...($field === null ? self::insert('tblcustomfieldsvalues', $valueKey, $value)
                : $this->put('tblcustomfieldsvalues', $valueKey, $value)),
            ...self::update('tblhosting', ['id' => $service['id']], $service['row'], $after),
        ];
    }

    private static function service(array $row): array
    {
        return [
            'id' => (string) $row['id'], 'client' => (string) $row['userid'], 'email' => (string) $row['email'],
            'product' => (string) $row['packageid'], 'label' => (string) $row['domain'],
            'old' => trim((string) $row['old']), 'row' => $row,
        ];
    }

    private function target(): array
    {
        $entries = $this->db->find('tblservers', ['id', 'name', 'username'], ['type' => 'berth']);
        return $this->only($entries, $this->options['server'], 'entry of Berth', 'server');
    }
}
