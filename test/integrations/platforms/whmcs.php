<?php
// Calls one function of the WHMCS module as WHMCS does, and holds its answer to the documentation.
require __DIR__ . '/hold.php';
require __DIR__ . '/whmcs-standin.php';
require getenv('MODULE') . '/berth.php';
hurry();

$texts = fn (array $values) => count(array_filter($values, 'is_string')) === count($values);

['function' => $function, 'params' => $params] = json_decode(stream_get_contents(STDIN), true);
$name = "berth_$function";
hold(function_exists($name), "it has the function $name");
$params['model'] = new ServiceModel();
$answer = $name($params);

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
        hold(array_keys($account) === $known && in_array($account['status'], ['Active', 'Suspended', 'Terminated'], true), 'an account has the fields of the documentation');
    }
} else {
    hold(false, "WHMCS does not call $function");
}
echo json_encode($answer);
