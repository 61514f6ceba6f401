<?php
// Calls functions of the WHMCS module as WHMCS does, one for each line of its input, and holds their answers to the
// documentation. What WHMCS does after a function is done here, too: the state of the service and the welcome mail.
require __DIR__ . '/hold.php';
require __DIR__ . '/whmcs-standin.php';
require getenv('MODULE') . '/berth.php';
require getenv('MODULE') . '/hooks.php';
hurry();

/** `$params` of a service or of an add-on, from the tables. */
function paramsOf(int $serviceId, ?int $addonId): array
{
    $service = standin_row('tblhosting', $serviceId);
    $addon = $addonId === null ? null : standin_row('tblhostingaddons', $addonId);
    $product = $addon === null ? standin_row('tblproducts', $service['packageid']) : standin_row('tbladdons', $addon['addonid']);
    $client = standin_row('tblclients', $service['userid']);
    return serverParams($addon === null ? $service['server'] : $addon['server']) + $product['options'] + [
        'serviceid' => $serviceId,
        ...($addonId === null ? [] : ['addonId' => $addonId]),
        'userid' => $service['userid'],
        'pid' => $product['id'],
        'domain' => $service['domain'],
        'username' => $service['username'],
        'password' => $service['password'],
        'configoptions' => $service['configoptions'] ?? [],
        'customfields' => $addon === null ? [] : $addon['fields'] ?? [],
        'clientsdetails' => $client,
        'model' => $addonId === null ? WHMCS\Service\Service::find($serviceId) : WHMCS\Service\Addon::find($addonId),
    ];
}

function serverParams(int $id): array
{
    $server = standin_row('tblservers', $id);
    return [
        'serverid' => $id,
        'serverhostname' => $server['hostname'],
        'serverport' => $server['port'],
        'serversecure' => $server['secure'] === 'on',
        'serverusername' => $server['username'],
        'serverpassword' => decrypt($server['password']),
        'serveraccesshash' => $server['accesshash'],
    ];
}

/** The work of WHMCS itself after a core function has succeeded. */
function afterwards(string $function, int $serviceId, ?int $addonId): void
{
    $status = ['CreateAccount' => 'Active', 'SuspendAccount' => 'Suspended', 'UnsuspendAccount' => 'Active', 'TerminateAccount' => 'Terminated'];
    if (isset($status[$function])) {
        $table = $addonId === null ? 'tblhosting' : 'tblhostingaddons';
        $column = $addonId === null ? 'domainstatus' : 'status';
        WHMCS\Database\Capsule::table($table)->where('id', $addonId ?? $serviceId)->update([$column => $status[$function]]);
    }
    if ($function === 'CreateAccount') {
        $properties = ($addonId === null ? WHMCS\Service\Service::find($serviceId) : WHMCS\Service\Addon::find($addonId))->serviceProperties;
        standin_change(function (array &$state) use ($properties, $serviceId, $addonId) {
            $state['mails'][] = ['service' => $serviceId, 'addon' => $addonId];
        });
        $password = $properties->get('Password');
        standin_change(function (array &$state) use ($password) {
            $state['mails'][array_key_last($state['mails'])]['password'] = $password;
        });
    }
}

function holdAnswer(string $function, mixed $answer): void
{
    $texts = fn (array $values) => count(array_filter($values, 'is_string')) === count($values);
    $core = ['CreateAccount', 'SuspendAccount', 'UnsuspendAccount', 'TerminateAccount', 'ChangePackage', 'UsageUpdate', 'Start', 'ShutDown', 'Restart', 'ResetPassword'];
    if (in_array($function, $core, true)) {
        hold(is_string($answer) && $answer !== '', 'a core function answers success or an error in words');
    } elseif ($function === 'TestConnection') {
        hold(is_bool($answer['success']) && is_string($answer['error']), 'the test of the connection answers success and error');
    } elseif ($function === 'MetaData') {
        hold($answer['APIVersion'] === '1.1' && is_string($answer['DisplayName']), 'the metadata name the module and its API');
    } elseif ($function === 'ConfigOptions') {
        hold(count($answer) <= 24, 'there are at most 24 options');
        foreach ($answer as $option) {
            hold(in_array($option['Type'], ['text', 'password', 'yesno', 'dropdown', 'radio', 'textarea'], true), 'an option has a known type');
            hold(!isset($option['Loader']) || (function_exists($option['Loader']) && $option['SimpleMode']), 'a loader exists, in simple mode');
        }
    } elseif (str_starts_with($function, 'Load')) {
        hold($answer !== [] && $texts($answer) && $texts(array_keys($answer)), 'a loader answers values and their labels');
    } elseif ($function === 'ServiceSingleSignOn') {
        hold($answer['success'] ? is_string($answer['redirectTo']) : is_string($answer['errorMsg']), 'single sign-on answers where to go, or why not');
    } elseif ($function === 'AdminServicesTabFields') {
        hold($texts($answer) && $texts(array_keys($answer)), 'fields of the admin tab are texts');
    } elseif ($function === 'ClientArea') {
        hold(is_file(getenv('MODULE') . "/{$answer['templatefile']}.tpl") && is_array($answer['vars']), 'the client area names a template and its values');
    } elseif (str_ends_with($function, 'CustomButtonArray')) {
        foreach ($answer as $button) {
            hold(function_exists("berth_$button"), 'a button calls a function of the module');
        }
    } elseif ($function === 'ListAccounts') {
        hold(is_bool($answer['success']) && is_array($answer['accounts'] ?? []), 'the list of accounts is a list');
        foreach ($answer['accounts'] ?? [] as $account) {
            $known = ['email', 'username', 'domain', 'uniqueIdentifier', 'product', 'primaryip', 'created', 'status'];
            hold(array_keys($account) === $known && in_array($account['status'], ['Active', 'Suspended'], true), 'an account has the fields of the documentation');
        }
    } else {
        hold(false, "WHMCS does not call $function");
    }
}

/** `dies`: the process is killed before WHMCS notes what the function answered. */
function handle(array $call): mixed
{
    ['function' => $function] = $call;
    if ($function === 'write') {
        // People and other parts of WHMCS write a row, new or changed.
        return standin_change(function (array &$state) use ($call) {
            ['table' => $table, 'row' => $row] = $call;
            $at = array_search($row['id'], array_column($state[$table], 'id'), true);
            $state[$table][$at === false ? count($state[$table]) : $at] = $row + ($at === false ? [] : $state[$table][$at]);
            return 'success';
        });
    }
    if ($function === 'ClientEdit') {
        $client = standin_row('tblclients', $call['client']);
        foreach ($GLOBALS['standin_hooks']['ClientEdit'] as $hook) {
            hold($hook(['userid' => $client['id']] + $client) === null, 'the hook ClientEdit answers nothing');
        }
        return 'success';
    }
    $name = "berth_$function";
    hold(function_exists($name), "it has the function $name");
    $serviceId = $call['service'] ?? null;
    $params = ($call['params'] ?? []) + ($serviceId === null ? serverParams($call['server'] ?? 3) : paramsOf($serviceId, $call['addon'] ?? null));
    $answer = $name($params);
    holdAnswer($function, $answer);
    if ($answer === 'success' && empty($call['dies'])) {
        afterwards($function, $serviceId ?? 0, $call['addon'] ?? null);
    }
    return $answer;
}

serve(handle(...));
